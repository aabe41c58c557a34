//! The prediction of a search, in sentences.

use record::{Forecast, PeriodSearch};

use super::numbers::{percent, quantity};
use super::phrases::pause_kind;

/// Returns the prediction before the first trial, or the reason why there is none. Empty for a search without
/// prediction.
pub(crate) fn forecast(search: &PeriodSearch) -> Vec<String> {
    let us = |us: f64| quantity(us, "us");
    let Some(forecast) = &search.forecast else {
        return search.no_forecast.clone().into_iter().collect();
    };
    let shortest = match forecast.shortest_us {
        Some(shortest) => format!("{} is the shortest period", us(shortest)),
        None => "no period".into(),
    };
    let mut line = format!(
        "predicted: {shortest} that keeps that rate; of {} back to back {} was lost to pauses, and an instance took {}",
        quantity(forecast.recorded_s, "s"),
        percent(forecast.lost_share),
        us(forecast.each_us)
    );
    if forecast.latency_us > 1.1 * forecast.each_us {
        line += &format!(" ({} by itself)", us(forecast.latency_us));
    }
    vec![line]
}

/// Returns the shortest periods without each kind of pauses, and without any pause. Empty unless this was requested.
pub(crate) fn without_pauses(search: &PeriodSearch) -> Vec<String> {
    let Some(forecast) = &search.forecast else { return Vec::new() };
    let shares = forecast.without.iter().map(|without| Some(without.share));
    let gains = explained_gains(forecast);
    let line = |((name, us), share): (&(String, Option<f64>), Option<f64>)| {
        let share =
            share.map_or(String::new(), |share| format!(", {} of the time", percent(share)));
        let us = us.map_or("no period".into(), |us| quantity(us, "us"));
        format!("{name}{share}: {us}")
    };
    gains.iter().zip(shares.chain([None])).map(line).collect()
}

/// What is left out in each explained prediction, and the shortest period that remains.
pub(crate) fn explained_gains(forecast: &Forecast) -> Vec<(String, Option<f64>)> {
    let kinds = forecast.without.iter().map(|without| {
        (format!("without those of {}", pause_kind(&without.kind)), without.shortest_us)
    });
    let all = forecast.without_all_us.map(|us| ("without any pause".into(), Some(us)));
    kinds.chain(all).collect()
}
