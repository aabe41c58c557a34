//! From a selection of benchmarks to launches: which ranks run what, in which order.

use std::collections::BTreeSet;

use contract::record::{Key, Parameters};
use serde::{Deserialize, Serialize};

use crate::catalogue::{RankRule, find};
use crate::data::Shape;
use crate::programs::HAND_OVER;
use crate::{Benchmark, Placement, Settings, Sizes};

mod yardsticks;

use yardsticks::add_yardsticks;

/// One measurement to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The benchmark's name.
    pub benchmark: String,
    /// What else identifies the measurement.
    pub parameters: Parameters,
    /// The message size in bytes.
    pub size_bytes: u64,
    /// How long it will take, as far as one can tell before measuring, in seconds.
    pub estimate_s: f64,
    /// Which of its turns this is, from 1.
    pub turn: u32,
}

/// What the ranks of one launch execute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The measurements, in this order.
    pub steps: Vec<Step>,
    /// How to make them.
    pub settings: Settings,
    /// How long all of them together should take, in seconds.
    pub limit_s: Option<f64>,
}

/// One launch of a number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// How many ranks.
    pub ranks: usize,
    /// Where they must be.
    pub placement: Placement,
    /// What they execute.
    pub job: Job,
}

/// Why a selection cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// None of the wanted numbers of ranks will do.
    #[error("`{benchmark}` runs with {needs}, not with {}", list(.wanted))]
    Ranks {
        /// The benchmark.
        benchmark: &'static str,
        /// What it runs with.
        needs: String,
        /// What was wanted.
        wanted: Vec<usize>,
    },
}

fn list(counts: &[usize]) -> String {
    counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// What a benchmark may look at to say which measurements it makes.
pub(crate) struct Scope<'a> {
    /// The number of ranks.
    pub(crate) ranks: usize,
    /// The sizes that the user wants, if any.
    pub(crate) sizes: Option<&'a Sizes>,
    /// Everything else that the user wants.
    pub(crate) settings: &'a Settings,
}

/// A measurement of a benchmark.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Case {
    /// What identifies it besides its size.
    pub(crate) parameters: Parameters,
    /// The message size.
    pub(crate) size_bytes: u64,
}

/// Plans the `selection` for the wanted numbers of `ranks` (or the benchmarks' own) on a machine with so many
/// `processors`, leaving out what is `done`.
///
/// Steps that need the same number of ranks in the same places share a launch; launches stand in the order in which the
/// selection first asks for them. The same arguments give the same plan.
///
/// # Errors
/// [`PlanError::Ranks`] for a benchmark that runs with none of the wanted numbers.
pub fn plan(
    selection: &[&'static Benchmark],
    ranks: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
    done: &BTreeSet<Key>,
) -> Result<Vec<Launch>, PlanError> {
    let mut launches: Vec<Launch> = Vec::new();
    for benchmark in selection {
        for count in counts(benchmark, ranks, processors, settings)? {
            let steps = steps(benchmark, count, settings);
            match launches
                .iter_mut()
                .find(|launch| launch.ranks == count && launch.placement == benchmark.placement)
            {
                Some(launch) => launch.job.steps.extend(steps),
                None => launches.push(Launch {
                    ranks: count,
                    placement: benchmark.placement,
                    job: Job { steps, settings: settings.clone(), limit_s: None },
                }),
            }
        }
    }
    add_yardsticks(&mut launches, settings);
    if selection.iter().any(|benchmark| benchmark.name == HAND_OVER.name) {
        // Ranks that share a processor hand nothing over but the processor.
        for launch in launches.iter_mut().filter(|launch| launch.ranks <= processors) {
            repeat_hand_over(launch, settings);
        }
    }
    for launch in &mut launches {
        let ranks = launch.ranks;
        launch.job.steps.retain(|step| !done.iter().any(|key| has_done(key, ranks, step)));
        launch.job.steps = in_turns(std::mem::take(&mut launch.job.steps), settings.turns);
    }
    launches.retain(|launch| !launch.job.steps.is_empty());
    share_limit(&mut launches, settings.suite_limit_s);
    Ok(launches)
}

/// The parameter of a hand-over that is measured once more: the group that it follows.
pub(crate) const AFTER: &str = "after";

/// Measures the hand-over between the first two ranks once more after each group of a launch.
///
/// A hypervisor may move a virtual processor to another core cluster in mid-run: on one virtual machine the hand-over
/// went from 0.05 to 0.21 us between two minutes, and every message with it. Only a limit measured near the numbers that
/// are held against it shows that.
fn repeat_hand_over(launch: &mut Launch, settings: &Settings) {
    if launch.ranks < 2 || launch.placement != Placement::Spread {
        return;
    }
    let group = |step: &Step| find(&step.benchmark).map_or("", |benchmark| benchmark.group);
    let mut steps: Vec<Step> = Vec::new();
    for step in std::mem::take(&mut launch.job.steps) {
        let last = steps.last().map_or("", group);
        if last != group(&step) {
            steps.extend(hand_over_after(last, launch.ranks, settings));
        }
        steps.push(step);
    }
    let last = steps.last().map_or("", group);
    steps.extend(hand_over_after(last, launch.ranks, settings));
    launch.job.steps = steps;
}

/// None after the limits themselves.
fn hand_over_after(group: &str, ranks: usize, settings: &Settings) -> Option<Step> {
    let worth_it = !group.is_empty() && group != HAND_OVER.group;
    worth_it.then(|| {
        let parameters = Parameters::from([
            ("from".into(), 0.into()),
            ("to".into(), 1.into()),
            (AFTER.into(), group.into()),
        ]);
        step(&HAND_OVER, ranks, Case { parameters, size_bytes: 0 }, settings)
    })
}

fn counts(
    benchmark: &Benchmark,
    wanted: Option<&[usize]>,
    processors: usize,
    settings: &Settings,
) -> Result<Vec<usize>, PlanError> {
    let counts = match benchmark.ranks {
        RankRule::OfChain => vec![settings.pipeline.chain().ranks()],
        rule => rule.counts(wanted, processors),
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

fn steps(benchmark: &Benchmark, ranks: usize, settings: &Settings) -> Vec<Step> {
    let scope = Scope { ranks, sizes: settings.sizes.as_ref(), settings };
    let cases = (benchmark.cases)(&scope).into_iter();
    cases.map(|case| step(benchmark, ranks, case, settings)).collect()
}

fn step(benchmark: &Benchmark, ranks: usize, case: Case, settings: &Settings) -> Step {
    let Case { parameters, size_bytes } = case;
    Step {
        estimate_s: estimate_s(benchmark, ranks, size_bytes, &parameters, settings),
        benchmark: benchmark.name.into(),
        parameters,
        size_bytes,
        turn: 1,
    }
}

/// These steps in turns: first all of them, then again and again those that can be made so.
fn in_turns(steps: Vec<Step>, turns: u32) -> Vec<Step> {
    let (mut first, mut all) = (steps, Vec::new());
    let can = |step: &Step| find(&step.benchmark).is_some_and(|benchmark| benchmark.in_turns);
    for step in first.iter_mut().filter(|step| can(step)) {
        step.estimate_s /= f64::from(turns);
    }
    for turn in 2..=turns {
        all.extend(first.iter().filter(|step| can(step)).map(|step| Step { turn, ..step.clone() }));
    }
    first.extend(all);
    first
}

/// The parameter by which a measurement says how it had to be made, where that is not as planned.
pub(crate) const METHOD: &str = "method";

/// Whether `key` is the measurement that `step` asks for, however it had to be made.
fn has_done(key: &Key, ranks: usize, step: &Step) -> bool {
    key.benchmark == step.benchmark
        && key.ranks == ranks
        && key.size_bytes == step.size_bytes
        && key.parameters.iter().filter(|(name, _)| *name != METHOD).eq(&step.parameters)
}

/// Gives each launch a part of the time for all, by its estimate.
fn share_limit(launches: &mut [Launch], limit_s: Option<f64>) {
    let total_s: f64 = launches.iter().map(Launch::estimate_s).sum();
    for launch in launches {
        let share = launch.estimate_s() / total_s;
        launch.job.limit_s = limit_s.map(|limit_s| limit_s * share);
    }
}

impl Launch {
    /// How long it will take, as far as one can tell before measuring, in seconds.
    pub fn estimate_s(&self) -> f64 {
        self.job.steps.iter().map(|step| step.estimate_s).sum()
    }

    /// The memory for messages that the ranks together need at once, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let needs = |step| {
            (0..self.ranks)
                .fold(0, |sum: u64, me| sum.saturating_add(memory_bytes(step, self.ranks, me)))
        };
        self.job.steps.iter().map(needs).max().unwrap_or(0)
    }

    /// The memory for messages that the neediest rank needs at once, in bytes.
    pub fn memory_per_rank_bytes(&self) -> u64 {
        let needs =
            |step| (0..self.ranks).map(|me| memory_bytes(step, self.ranks, me)).max().unwrap_or(0);
        self.job.steps.iter().map(needs).max().unwrap_or(0)
    }
}

fn memory_bytes(step: &Step, ranks: usize, me: usize) -> u64 {
    let shape = Shape::new(ranks, me, step.size_bytes as usize, &step.parameters);
    find(&step.benchmark).map_or(0, |found| (found.program.blocks)(&shape).bytes(step.size_bytes))
}

impl Step {
    /// A short description: the benchmark with its parameters and size.
    pub fn label(&self) -> String {
        let mut label = self.benchmark.clone();
        for (name, value) in &self.parameters {
            label += &format!(" {}={value}", name.replace('_', " "));
        }
        if self.size_bytes > 0 {
            label += &format!(" {}", in_bytes(self.size_bytes));
        }
        label
    }
}

/// A size with the largest binary unit that leaves it whole.
fn in_bytes(size: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| size >= *unit && size.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{} {name}", size / unit),
        None => format!("{size} B"),
    }
}

/// A middling machine: what an event costs however short, and how fast it moves bytes. Only for the time left.
const EVENT_S: f64 = 3e-6;
const BYTES_PER_S: f64 = 4e9;
/// A measurement of a middling spread, with its warm-up.
const EVENTS: f64 = 120.0;

fn estimate_s(
    benchmark: &Benchmark,
    ranks: usize,
    size_bytes: u64,
    parameters: &Parameters,
    settings: &Settings,
) -> f64 {
    if let Some(lasts_s) = benchmark.lasts_s {
        return lasts_s(settings, parameters);
    }
    let shape = Shape::new(ranks, 0, size_bytes as usize, parameters);
    let program = &benchmark.program;
    let bytes = (program.moved)(&shape).saturating_mul((program.parts)(&shape)) as f64;
    let event_s = EVENT_S * ranks as f64 + bytes / BYTES_PER_S;
    let all_s = (EVENTS * event_s).max(settings.time_min_s) + 2.0 * bytes / BYTES_PER_S;
    all_s.min(settings.time_limit_s.max(event_s))
}

/// No sizes and no parameters: one measurement.
pub(crate) fn once(_: &Scope) -> Vec<Case> {
    vec![Case::default()]
}

/// Sparse but telling: empty, short, around the usual changes of protocol, and up to what leaves the caches.
pub(crate) const MESSAGE_SIZES: [u64; 12] =
    [0, 1, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// A measurement for each message size.
pub(crate) fn each_size(scope: &Scope) -> Vec<Case> {
    sized(scope, &MESSAGE_SIZES)
}

/// A measurement for each size of a rank's block; unasked, none for which the blocks of all ranks fill over 16 MiB.
pub(crate) fn each_block_size(scope: &Scope) -> Vec<Case> {
    let fits = |size: &u64| *size * scope.ranks as u64 <= 16 << 20;
    let sizes: Vec<u64> = MESSAGE_SIZES.into_iter().filter(fits).collect();
    sized(scope, &sizes)
}

/// A measurement for each size that the user wants, or else for each of `sizes`.
pub(crate) fn sized(scope: &Scope, sizes: &[u64]) -> Vec<Case> {
    let sizes = scope.sizes.map_or(sizes, Sizes::bytes);
    sizes.iter().map(|&size_bytes| Case { size_bytes, ..Case::default() }).collect()
}

#[cfg(test)]
mod tests;
