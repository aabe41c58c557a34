//! The steps of one benchmark.

use super::estimate::estimate_s;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::job::Step;
use crate::settings::Settings;

/// A step for each measurement that the benchmark makes.
pub(super) fn steps(benchmark: &Benchmark, ranks: usize, settings: &Settings) -> Vec<Step> {
    let scope = Scope { ranks, sizes: settings.sizes.as_ref(), settings };
    let cases = (benchmark.cases)(&scope).into_iter();
    cases.map(|case| step(benchmark, ranks, case, settings)).collect()
}

/// The step of one measurement.
pub(super) fn step(benchmark: &Benchmark, ranks: usize, case: Case, settings: &Settings) -> Step {
    let Case { parameters, size_bytes } = case;
    Step {
        estimate_s: estimate_s(benchmark, ranks, size_bytes, &parameters, settings),
        benchmark: benchmark.name.into(),
        parameters,
        size_bytes,
        repetition: 1,
    }
}
