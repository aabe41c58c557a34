//! Makes measurements from the outcome of a search.

use contract::{Error, Result};
use record::{Better, Measurement, Parameters, Summary, Timing};

use super::outcome::SearchOutcome;
use crate::bench::Bench;
use crate::event::Event;

/// Reports the outcome as measurements: `period` (if one is sustained), `miss-rate` and `response` at that period. The
/// whole search is part of `period`, or of `miss-rate` if there is no `period`. `more` are parameters that became known
/// only here, `also` returns further measurements of the same key. Ranks other than 0 report nothing.
pub(crate) fn report(
    bench: &mut Bench<'_>,
    found: SearchOutcome,
    more: Parameters,
    also: impl FnOnce(&Measurement) -> Result<Vec<Measurement>>,
) -> Result<()> {
    if bench.shape.me != 0 {
        return Ok(());
    }
    let measurements = measurements(bench, found, more)?;
    let also = also(&measurements[0])?;
    bench.emit(Event::Measured(measurements.into_iter().chain(also).collect()))
}

fn measurements(
    bench: &Bench<'_>,
    found: SearchOutcome,
    more: Parameters,
) -> Result<Vec<Measurement>> {
    let no_search = || Error::Program("only rank 0 can report a search".into());
    let search = found.search.ok_or_else(no_search)?;
    let subject = bench.subject(more);
    let spent_s = search.spent_s;
    let rate = found.miss_rate.ok_or_else(no_search)?;
    let timing = Timing::of_single_events("time", spent_s);
    let response = subject.metric(("response", "us"), found.responses_us, timing)?;
    let number = |metric: &str, unit: &str, summary: Summary| Measurement {
        metric: metric.into(),
        unit: unit.into(),
        summary,
        samples: Vec::new(),
        ..response.clone()
    };
    let confidence = search.confidence;
    let interval = |low, middle, high, n| Summary::of_interval((low, middle, high), n, confidence);
    let percent = |share: f64| 100.0 * share;
    let missed = rate.missed as f64 / rate.instances.max(1) as f64;
    let (least, most) = (percent(rate.min), percent(rate.max));
    let miss_rate = interval(least, percent(missed), most, rate.instances);
    let miss_rate = number("miss-rate", "%", miss_rate);
    let Some(period_us) = search.shortest_sustained_us else {
        return Ok(vec![Measurement { search: Some(search), ..miss_rate }, response]);
    };
    let low_us = search.longest_refused_us.unwrap_or(period_us);
    let trials = search.trials.len() as u64;
    let period = number("period", "us", interval(low_us, period_us, period_us, trials));
    Ok(vec![Measurement { search: Some(search), ..period }, miss_rate, response])
}

/// Returns the rate of moving `bytes` in each period, derived from the measurement `period`; `None` for another
/// measurement.
pub(crate) fn rate(period: &Measurement, bytes: f64) -> Option<Measurement> {
    let rate = |period_us: f64| bytes / period_us;
    (period.metric == "period").then(|| derived(period, ("rate", "MB/s"), Better::Higher, rate))
}

/// Returns a number that follows from another one of the same measurement by `f`, which must be monotonic.
pub(crate) fn derived(
    from: &Measurement,
    (metric, unit): (&str, &str),
    better: Better,
    f: impl Fn(f64) -> f64,
) -> Measurement {
    let Summary { median, ci_low, ci_high, ci_confidence, n, .. } = from.summary;
    let (one, other) = (f(ci_low), f(ci_high));
    Measurement {
        metric: metric.into(),
        unit: unit.into(),
        better,
        summary: Summary::of_interval(
            (one.min(other), f(median), one.max(other)),
            n,
            ci_confidence,
        ),
        samples: Vec::new(),
        search: None,
        ..from.clone()
    }
}
