//! The steps of one benchmark.

use super::estimate::estimate_s;
use crate::case::{ALGORITHM, CHOSEN, Case, Scope};
use crate::declaration::Benchmark;
use crate::host_pairs::by_hosts;
use crate::job::Step;
use crate::overview;
use crate::settings::Settings;

/// Returns a step for each measurement of the benchmark.
pub(super) fn steps(benchmark: &Benchmark, ranks: usize, settings: &Settings) -> Vec<Step> {
    let scope = Scope { ranks, sizes: settings.sizes.as_ref(), settings };
    let cases = (benchmark.cases)(&scope).into_iter();
    let is_shown = |case: &Case| {
        !settings.is_overview
            || overview::contains(benchmark.name, case.size_bytes, &case.parameters)
    };
    let cases = cases.flat_map(|case| by_hosts(benchmark, ranks, case, settings));
    let wanted = cases.filter(|case| is_shown(case) && settings.wants(&case.parameters));
    let by_algorithms = wanted.flat_map(|case| by_algorithms(benchmark, case, settings));
    by_algorithms.map(|case| step(benchmark, ranks, case, settings)).collect()
}

/// Returns the case for each of the algorithms that the user requests, or unchanged.
fn by_algorithms(benchmark: &Benchmark, case: Case, settings: &Settings) -> Vec<Case> {
    let by = |algorithm: &str| {
        let mut parameters = case.parameters.clone();
        parameters.insert(ALGORITHM.into(), algorithm.into());
        Case { parameters, ..case.clone() }
    };
    let named = benchmark.wanted_algorithms(settings).map(|algorithm| by(algorithm.name()));
    let every = settings.wants_every_algorithm();
    if settings.algorithms.is_empty() || every && benchmark.algorithms.is_empty() {
        vec![case]
    } else if every {
        std::iter::once(by(CHOSEN)).chain(named).collect()
    } else {
        named.collect()
    }
}

/// Returns the step of one measurement.
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
