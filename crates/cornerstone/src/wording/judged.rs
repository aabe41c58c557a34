//! The judged instances of a period in sentences.

use record::{Broken, JudgedTimes, LateInstance, PeriodSearch};

use super::numbers::quantity;

/// Returns the times of the judged instances, a sentence each, if something is required of them.
pub(crate) fn judged_times(search: &PeriodSearch) -> Vec<String> {
    let is_required = search.required.is_some();
    search.judged.iter().filter(|_| is_required).map(times).collect()
}

/// Returns the distribution of a time: `latency of 400: median 20.6 ms, p99 20.7 ms, 400 too few for p99.9, at most 21.0
/// ms`.
fn times(times: &JudgedTimes) -> String {
    let us = |us: f64| quantity(us, "us");
    let JudgedTimes { metric, n, median_us, tail_us, max_us } = times;
    let tail = tail_us.iter().map(|&(share, time_us)| {
        let name = format!("p{}", ((1e9 * share).round() / 1e7));
        match time_us {
            Some(time_us) => format!("{name} {}", us(time_us)),
            None => format!("{n} too few for {name}"),
        }
    });
    let tail: Vec<String> = tail.collect();
    format!(
        "{metric} of {n}: median {}, {}, at most {}",
        us(*median_us),
        tail.join(", "),
        us(*max_us)
    )
}

/// Returns which instance was late or broke another requirement, where, when, and by how much.
pub(crate) fn late(late: &LateInstance) -> String {
    let over = match late.broken {
        Broken::Deadline => "late",
        Broken::Latency => "latency exceeded",
        Broken::Jitter => "jitter exceeded",
    };
    format!(
        "{over}: rank {} (stage {}) by {} in instance {} of {}, {:.3} s after the search began",
        late.rank,
        late.stage,
        quantity(late.late_us, "us"),
        late.instance,
        quantity(late.period_us, "us"),
        late.at_s
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_without_an_instance_beyond_it_is_not_given() {
        let judged = JudgedTimes {
            metric: "latency".into(),
            n: 400,
            median_us: 20.0,
            tail_us: vec![(0.99, Some(25.0)), (0.999, None), (1.0 - 1e-6, None)],
            max_us: 30.0,
        };
        let words = "latency of 400: median 20.0 µs, p99 25.0 µs, 400 too few for p99.9, 400 too few for p99.9999, at \
            most 30.0 µs";
        assert_eq!(times(&judged), words);
    }
}
