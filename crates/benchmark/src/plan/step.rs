//! The steps of one benchmark.

use super::estimate::estimate_s;
use contract::collective::Algorithm;

use crate::case::{ALGORITHM, Case, Scope};
use crate::declaration::Benchmark;
use crate::job::Step;
use crate::settings::Settings;

/// A step for each measurement that the benchmark makes.
pub(super) fn steps(benchmark: &Benchmark, ranks: usize, settings: &Settings) -> Vec<Step> {
    let scope = Scope { ranks, sizes: settings.sizes.as_ref(), settings };
    let cases = (benchmark.cases)(&scope).into_iter();
    let by_algorithms = cases.flat_map(|case| by_algorithms(benchmark, case, settings));
    by_algorithms.map(|case| step(benchmark, ranks, case, settings)).collect()
}

/// The case by each of the algorithms that the user wants, or as it is.
fn by_algorithms(benchmark: &Benchmark, case: Case, settings: &Settings) -> Vec<Case> {
    let by = |algorithm: &Algorithm| {
        let mut parameters = case.parameters.clone();
        parameters.insert(ALGORITHM.into(), algorithm.name().into());
        Case { parameters, ..case.clone() }
    };
    let mut cases: Vec<Case> = benchmark.wanted_algorithms(settings).map(by).collect();
    if settings.algorithms.is_empty() || settings.wants_every_algorithm() {
        cases.insert(0, case);
    }
    cases
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
