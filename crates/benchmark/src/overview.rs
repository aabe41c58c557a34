//! The overview: the headline numbers of a run for which the user names no benchmark.
//!
//! Each is a case of a benchmark of the catalogue, so the number is the same one that the benchmark reports when it is
//! named. The cases are short enough that all of them are measured in many launches within [`BUDGET_S`].

use record::{Measurement, Parameters};

use crate::case::{ALGORITHM, METHOD};
use crate::host_pairs::{PAIR, TO};
use crate::settings::Settings;

/// Time that the overview takes at most, in seconds, if nothing slows the ranks.
const BUDGET_S: f64 = 60.0;

/// A headline number: a case of a benchmark, and the metric of it that is shown.
#[derive(Debug)]
pub struct OverviewNumber {
    /// Description of the number.
    pub words: &'static str,
    /// The benchmark.
    pub benchmark: &'static str,
    /// The metric that is shown.
    pub metric: &'static str,
    size_bytes: u64,
    /// Names and values of the parameters, as they are written.
    parameters: &'static [(&'static str, &'static str)],
}

/// Returns a number whose case is identified by its size.
const fn number(
    words: &'static str,
    benchmark: &'static str,
    metric: &'static str,
    size_bytes: u64,
) -> OverviewNumber {
    OverviewNumber { words, benchmark, metric, size_bytes, parameters: &[] }
}

/// The headline numbers, in the order in which they are shown.
pub static OVERVIEW: &[OverviewNumber] = &[
    OverviewNumber {
        parameters: &[("precision", "double")],
        ..number("one core computes at most", "peak", "rate", 0)
    },
    OverviewNumber {
        parameters: &[("instance", "repeated"), ("points", "1024"), ("way", "block")],
        ..number("FFT of 1024 points in cache", "fft", "rate", 0)
    },
    number("one core copies 64 KiB", "copy", "rate", 64 << 10),
    number("one core copies 64 MiB", "copy", "rate", 64 << 20),
    number("reading the clock", "clock-cost", "time", 0),
    number("switching processes", "process-switch", "time", 0),
    OverviewNumber {
        parameters: &[("from", "0"), ("to", "1")],
        ..number("one cache line from core to core", "hand-over", "time", 0)
    },
    number("message of 8 B, half a round trip", "ping-pong", "time", 8),
    number("message of 64 KiB, half a round trip", "ping-pong", "time", 64 << 10),
    number("stream of 64 KiB messages", "bandwidth", "rate", 64 << 10),
    number("barrier", "barrier", "time", 0),
    number("allreduce of 8 B", "allreduce", "time", 8),
    number("broadcast of 64 KiB", "broadcast", "time", 64 << 10),
    number("put of 8 B, until it has arrived", "put", "time", 8),
    number("compare-and-swap", "compare-and-swap", "time", 0),
];

impl OverviewNumber {
    /// Returns whether this is the case of a benchmark with this size and these parameters.
    fn is_case(&self, benchmark: &str, size_bytes: u64, parameters: &Parameters) -> bool {
        let is_of_pair = parameters.contains_key(PAIR);
        let is_method = |name: &str| {
            [METHOD, ALGORITHM].contains(&name) || is_of_pair && [PAIR, TO].contains(&name)
        };
        let mut found = parameters.iter().filter(|(name, _)| !is_method(name));
        self.benchmark == benchmark
            && self.size_bytes == size_bytes
            && self.parameters.iter().all(|(name, value)| {
                found
                    .next()
                    .is_some_and(|(its_name, its)| its_name == name && its.to_string() == *value)
            })
            && found.next().is_none()
    }

    /// Returns whether a measurement contains this number.
    pub fn is_in(&self, m: &Measurement) -> bool {
        self.metric == m.metric && self.is_case(&m.benchmark, m.size_bytes, &m.parameters)
    }
}

/// Returns whether a case is one of the overview.
pub(crate) fn contains(benchmark: &str, size_bytes: u64, parameters: &Parameters) -> bool {
    OVERVIEW.iter().any(|one| one.is_case(benchmark, size_bytes, parameters))
}

impl Settings {
    /// Returns the settings of the overview: each of its numbers has the same share of a minute.
    pub fn overview() -> Self {
        Settings {
            is_overview: true,
            time_limit_s: BUDGET_S / OVERVIEW.len() as f64,
            budget_s: Some(BUDGET_S),
            ..Settings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue::select;
    use crate::plan::plan;

    #[test]
    fn each_number_is_one_case_of_its_benchmark_and_nothing_else_is_planned() {
        let selection = select(&[]).unwrap();
        let launches = plan(&selection, None, 4, &Settings::overview(), &BTreeSet::new()).unwrap();
        let steps: Vec<_> = launches.iter().flat_map(|launch| &launch.job.steps).collect();
        for one in OVERVIEW {
            let of_it = |step: &&&crate::Step| {
                one.is_case(&step.benchmark, step.size_bytes, &step.parameters)
            };
            assert_eq!(steps.iter().filter(of_it).count(), 1, "{one:?}");
        }
        assert_eq!(steps.len(), OVERVIEW.len());
        // 60 s for 15 numbers.
        assert_eq!((OVERVIEW.len(), Settings::overview().time_limit_s), (15, 4.0));
    }
}
