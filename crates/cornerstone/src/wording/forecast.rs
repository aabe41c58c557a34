//! The prediction of a search, in sentences.

use record::PeriodSearch;

use super::numbers::{percent, quantity, significant};
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
    if (forecast.pace - 1.0).abs() > 0.02 {
        line += &format!("; in the trials it took {} times as long", significant(forecast.pace));
    }
    vec![line]
}

/// Returns the shortest periods without each kind of pauses, and without any pause. Empty unless this was requested.
pub(crate) fn without_pauses(search: &PeriodSearch) -> Vec<String> {
    let Some(forecast) = &search.forecast else { return Vec::new() };
    let period =
        |shortest_us: Option<f64>| shortest_us.map_or("no period".into(), |us| quantity(us, "us"));
    let of_kind = forecast.without.iter().map(|without| {
        format!(
            "without those of {}{}, {} of the time: {}",
            pause_kind(&without.kind),
            on(&without.ranks),
            percent(without.share),
            period(without.shortest_us)
        )
    });
    let all = forecast.without_all_us.map(|us| format!("without any pause: {}", period(Some(us))));
    of_kind.chain(all).collect()
}

/// Returns ` on ranks 0 and 3`, or nothing if no rank is known.
fn on(ranks: &[usize]) -> String {
    match ranks {
        [] => String::new(),
        [rank] => format!(" on rank {rank}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(usize::to_string).collect();
            format!(" on ranks {} and {last}", first.join(", "))
        }
    }
}
