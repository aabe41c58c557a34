//! Converts a selection of benchmarks to launches: their ranks, their steps, and their order.

use std::collections::BTreeSet;

use record::Key;

use crate::case::METHOD;
use crate::catalogue::find;
use crate::declaration::Benchmark;
use crate::host_pairs::ranks_unasked;
use crate::job::{Job, Launch, Step};
use crate::programs::HAND_OVER;
use crate::ranks::RankRule;
use crate::settings::{EVERY_ALGORITHM, Settings};

mod estimate;
mod hand_over;
mod requested;
mod step;
mod yardsticks;

use hand_over::repeat_hand_over;
pub use requested::check_request;
use step::steps;
use yardsticks::add_yardsticks;

/// The reason why a selection cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// None of the requested numbers of ranks is permitted.
    #[error("`{benchmark}` runs with {needs}, not with {}", list(.wanted))]
    Ranks {
        /// The benchmark.
        benchmark: &'static str,
        /// The permitted numbers of ranks, in words.
        needs: String,
        /// The requested numbers.
        wanted: Vec<usize>,
    },
    /// None of the selected benchmarks can be made by some of the requested algorithms.
    #[error("no benchmark of the selection has an algorithm `{wanted}`{}", has(.available))]
    Algorithms {
        /// The requested algorithms.
        wanted: String,
        /// Names of the benchmarks that have algorithms, each with those.
        available: Vec<(&'static str, Vec<&'static str>)>,
    },
    /// No benchmark of the selection takes any of the requested sizes.
    #[error("no benchmark of the selection takes the sizes {}: {}", .wanted.join(", "), .benchmarks.join(", "))]
    Sizes {
        /// The requested sizes.
        wanted: Vec<String>,
        /// The benchmarks.
        benchmarks: Vec<&'static str>,
    },
    /// No case of the selection has a parameter.
    #[error("no case of the selection has a parameter `{name}`{}{}", suggested(.nearest), parameters(.available))]
    Parameter {
        /// The parameter.
        name: String,
        /// The most similar one, if one is similar.
        nearest: Option<String>,
        /// The parameters of the cases.
        available: Vec<String>,
    },
    /// No case of the selection has a value of a parameter.
    #[error("no case of the selection has {name}={value}{}; there are {name}={}", suggested(.nearest), .available.join(","))]
    Value {
        /// The parameter.
        name: String,
        /// The requested value.
        value: String,
        /// The most similar one, if one is similar.
        nearest: Option<String>,
        /// The values in the cases.
        available: Vec<String>,
    },
    /// No case of the selection has the requested values of parameters together.
    #[error("no case of the selection has {}{}", only(.wanted), cases_have(.available))]
    Only {
        /// The requested values.
        wanted: Vec<(String, Vec<String>)>,
        /// Values of these parameters in the cases of the selection.
        available: Vec<(String, Vec<String>)>,
    },
}

fn suggested(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn parameters(available: &[String]) -> String {
    match available.is_empty() {
        true => "; they have none".into(),
        false => format!("; there are {}", available.join(", ")),
    }
}

fn only(wanted: &[(String, Vec<String>)]) -> String {
    let one = |(name, values): &(String, Vec<String>)| format!("{name}={}", values.join(","));
    wanted.iter().map(one).collect::<Vec<_>>().join(" and ")
}

fn cases_have(available: &[(String, Vec<String>)]) -> String {
    if available.is_empty() { String::new() } else { format!("; there are {}", only(available)) }
}

fn has(available: &[(&'static str, Vec<&'static str>)]) -> String {
    let one =
        |(benchmark, names): &(&str, Vec<&str>)| format!("; {benchmark} has {}", names.join(", "));
    available.iter().map(one).collect()
}

fn list(counts: &[usize]) -> String {
    counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Plans the `selection` for the requested numbers of `ranks` (or the benchmarks' own) on a machine with this number of
/// `processors`, leaving out those that are `done`.
///
/// Steps that need the same number of ranks in the same places share a launch. Launches are in the order of their first
/// steps in the selection. The same arguments result in the same plan.
///
/// # Errors
/// [`PlanError::Ranks`] for a benchmark that runs with none of the requested numbers.
pub fn plan(
    selection: &[&'static Benchmark],
    ranks: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
    done: &BTreeSet<Key>,
) -> Result<Vec<Launch>, PlanError> {
    check_algorithms(selection, settings)?;
    let mut launches: Vec<Launch> = Vec::new();
    for benchmark in selection {
        for count in counts(benchmark, ranks, processors, settings)? {
            let steps = steps(benchmark, count, settings);
            if steps.is_empty() && (settings.is_overview || !settings.only.is_empty()) {
                continue;
            }
            match launches
                .iter_mut()
                .find(|launch| launch.ranks == count && launch.placement == benchmark.placement)
            {
                Some(launch) => launch.job.steps.extend(steps),
                None => launches.push(Launch {
                    ranks: count,
                    placement: benchmark.placement,
                    number: 0,
                    places: 0,
                    job: Job { steps, settings: settings.clone(), limit_s: None },
                }),
            }
        }
    }
    if launches.is_empty() && !settings.only.is_empty() {
        return Err(unknown_values(selection, ranks, processors, settings));
    }
    // The overview has limits of its own, and no other cases.
    if !settings.is_overview {
        add_yardsticks(&mut launches, settings);
        if selection.iter().any(|benchmark| benchmark.name == HAND_OVER.name) {
            // Ranks that share a processor hand over the processor, not a cache line between two of them.
            for launch in launches.iter_mut().filter(|launch| launch.ranks <= processors) {
                repeat_hand_over(launch, settings);
            }
        }
    }
    for launch in &mut launches {
        let ranks = launch.ranks;
        launch.job.steps.retain(|step| !done.iter().any(|key| has_done(key, ranks, step)));
        launch.job.steps = repeated(std::mem::take(&mut launch.job.steps), settings.repetitions);
    }
    launches.retain(|launch| !launch.job.steps.is_empty());
    share_limit(&mut launches, settings.suite_limit_s);
    Ok(launches)
}

/// Returns the error for values of parameters that no case has.
fn unknown_values(
    selection: &[&'static Benchmark],
    ranks: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
) -> PlanError {
    let all = Settings { only: Vec::new(), ..settings.clone() };
    let counts = |benchmark: &&'static Benchmark| {
        counts(benchmark, ranks, processors, &all).unwrap_or_default()
    };
    let cases: Vec<Step> = selection
        .iter()
        .flat_map(|one| counts(one).into_iter().map(move |count| (one, count)))
        .flat_map(|(one, count)| steps(one, count, &all))
        .collect();
    let values = |name: &String| {
        let found = cases.iter().filter_map(|step| step.parameters.get(name));
        let found: BTreeSet<String> = found.map(ToString::to_string).collect();
        (name.clone(), found.into_iter().collect::<Vec<_>>())
    };
    let available = settings.only.iter().map(|(name, _)| values(name));
    let available = available.filter(|(_, values)| !values.is_empty()).collect();
    PlanError::Only { wanted: settings.only.clone(), available }
}

/// Returns the benchmarks of the selection that have none of the requested algorithms. A plan leaves them out.
pub fn without_wanted_algorithm(
    selection: &[&'static Benchmark],
    settings: &Settings,
) -> Vec<&'static Benchmark> {
    if settings.algorithms.is_empty() || settings.wants_every_algorithm() {
        return Vec::new();
    }
    let is_left_out = |one: &&Benchmark| one.wanted_algorithms(settings).next().is_none();
    selection.iter().copied().filter(is_left_out).collect()
}

/// Refuses algorithms that no benchmark of the selection has.
fn check_algorithms(selection: &[&Benchmark], settings: &Settings) -> Result<(), PlanError> {
    let serves = |wanted: &str, one: &Benchmark| {
        !one.algorithms.is_empty()
            && (wanted == EVERY_ALGORITHM || one.algorithms.iter().any(|own| own.name() == wanted))
    };
    let is_missing = |wanted: &&String| !selection.iter().any(|one| serves(wanted, one));
    let missing: Vec<&str> =
        settings.algorithms.iter().filter(is_missing).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let with_algorithms = selection.iter().filter(|benchmark| !benchmark.algorithms.is_empty());
    let names = |benchmark: &&Benchmark| {
        (benchmark.name, benchmark.algorithms.iter().map(|one| one.name()).collect())
    };
    let available = with_algorithms.map(names).collect();
    Err(PlanError::Algorithms { wanted: missing.join(", "), available })
}

fn counts(
    benchmark: &Benchmark,
    wanted: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
) -> Result<Vec<usize>, PlanError> {
    let counts = match benchmark.ranks {
        RankRule::OfChain => settings.pipeline.ranks(),
        rule => match (wanted, ranks_unasked(benchmark, settings)) {
            (None, Some(ranks)) => vec![ranks],
            _ => rule.counts(wanted, processors),
        },
    };
    if counts.is_empty() {
        return Err(PlanError::Ranks {
            benchmark: benchmark.name,
            needs: benchmark.ranks.to_string(),
            wanted: wanted.unwrap_or_default().to_vec(),
        });
    }
    Ok(counts)
}

/// Repeats the steps: first all of them, then those that can be repeated, again and again.
fn repeated(steps: Vec<Step>, repetitions: u32) -> Vec<Step> {
    let (mut first, mut again) = (steps, Vec::new());
    let can = |step: &Step| find(&step.benchmark).is_some_and(|benchmark| benchmark.repeatable);
    for step in first.iter_mut().filter(|step| can(step)) {
        step.estimate_s /= f64::from(repetitions);
    }
    for repetition in 2..=repetitions {
        let repeatable = first.iter().filter(|step| can(step));
        again.extend(repeatable.map(|step| Step { repetition, ..step.clone() }));
    }
    first.extend(again);
    first
}

/// Returns whether `key` is the measurement of `step`, made by any method.
fn has_done(key: &Key, ranks: usize, step: &Step) -> bool {
    key.benchmark == step.benchmark
        && key.ranks == ranks
        && key.size_bytes == step.size_bytes
        && key.parameters.iter().filter(|(name, _)| *name != METHOD).eq(&step.parameters)
}

/// Divides the time limit among the launches in proportion to their estimates.
fn share_limit(launches: &mut [Launch], limit_s: Option<f64>) {
    let total_s: f64 = launches.iter().map(Launch::estimate_s).sum();
    for launch in launches {
        let share = launch.estimate_s() / total_s;
        launch.job.limit_s = limit_s.map(|limit_s| limit_s * share);
    }
}

#[cfg(test)]
mod tests;
