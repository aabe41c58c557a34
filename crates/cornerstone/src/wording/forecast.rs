//! The prediction of a search, in sentences.

use record::{Forecast, PeriodSearch, WithoutPauses, WithoutStage};

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
    let of_kind = |without: &WithoutPauses| {
        let WithoutPauses { kind, ranks, share, shortest_us, stages } = without;
        let (kind, share) = (pause_kind(kind), percent(*share));
        let whole = format!(
            "without those of {kind}{}{}, {share} of the time: {}",
            on(ranks),
            during(stages),
            period(*shortest_us)
        );
        let of_stage = |stage: &WithoutStage| {
            let share = percent(stage.share);
            let (of, on) = (during(std::slice::from_ref(stage)), on(&stage.ranks));
            format!(
                "    of these{of}{on} alone, {share} of the time: {}",
                period(stage.shortest_us)
            )
        };
        let several = stages.iter().filter(|_| stages.len() > 1).map(of_stage);
        std::iter::once(whole).chain(several).collect::<Vec<_>>()
    };
    let of_stage = |stage: &WithoutStage| {
        format!(
            "without any{}{}, {} of the time: {}",
            during(std::slice::from_ref(stage)),
            on(&stage.ranks),
            percent(stage.share),
            period(stage.shortest_us)
        )
    };
    let kinds = forecast.without.iter().flat_map(of_kind);
    let stages = forecast.without_stages.iter().map(of_stage);
    let all = forecast.without_all_us.map(|us| format!("without any pause: {}", period(Some(us))));
    kinds.chain(stages).chain(all).collect()
}

/// What is left out in each explained prediction, and the shortest period that remains.
pub(crate) fn explained_gains(forecast: &Forecast) -> Vec<(String, f64)> {
    let of_kind = |without: &WithoutPauses| {
        let name = format!("without {}", pause_kind(&without.kind));
        without.shortest_us.map(|us| (name, us))
    };
    let of_stage = |stage: &WithoutStage| {
        let name = format!("without any{}", during(std::slice::from_ref(stage)));
        stage.shortest_us.map(|us| (name, us))
    };
    let kinds = forecast.without.iter().filter_map(of_kind);
    let stages = forecast.without_stages.iter().filter_map(of_stage);
    let all = forecast.without_all_us.map(|us| ("without any pause".into(), us));
    kinds.chain(stages).chain(all).collect()
}

/// ` during stages 1 (range FFT) and 3 (azimuth FFT)`; nothing where no stage is known.
fn during(stages: &[WithoutStage]) -> String {
    let mut stages: Vec<&WithoutStage> = stages.iter().collect();
    stages.sort_by_key(|stage| stage.stage);
    let names: Vec<String> =
        stages.iter().map(|stage| format!("{} ({})", stage.stage, stage.name)).collect();
    listed("during stage", &names)
}

/// Returns ` on ranks 0 and 3`, or nothing if no rank is known.
fn on(ranks: &[usize]) -> String {
    listed("on rank", &ranks.iter().map(usize::to_string).collect::<Vec<_>>())
}

/// ` what 1`, ` whats 1 and 2`; nothing if there are none.
fn listed(what: &str, all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => format!(" {what} {one}"),
        [first @ .., last] => format!(" {what}s {} and {last}", first.join(", ")),
    }
}
