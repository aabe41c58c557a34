//! Two runs, measurement by measurement: faster, slower, same, or undecided.
//!
//! A comparison is a pipeline: samples, whose medians are the launches of a number ([`evidence`]); stages, which change
//! the evidence and can be switched off ([`STAGES`]); the interval of the ratio of launches, from their ranks alone
//! ([`shift`]); and the verdict, which follows from the interval and the threshold ([`verdict`]). [`explain`] prints all
//! numbers of this way. Launches of one build differ by more than their samples do, so one launch on a side does not
//! represent its build. Numbers of simulated machines are exact, and are equal or different.

mod digits;
mod effect;
mod evidence;
mod explain;
mod interim;
mod name;
mod shift;
mod stages;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Measurement, Run};
use serde::Serialize;

pub use effect::{Effect, effect_between};
pub use evidence::Shared;
pub use explain::explain;
pub use interim::interim_checks;
pub use name::Name;
pub use stages::{MetState, STAGES, Stage, Without};
pub use verdict::{MissingLaunches, Verdict, open_among};

use evidence::{Case, Evidence};
use verdict::equivalence_confidence;

/// Settings of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Ratios from 1 / (1 + margin) to 1 + margin count as the same.
    pub margin: f64,
    /// True if launches with the same number on both sides were made one after the other, and are compared pair by
    /// pair.
    pub paired: bool,
    /// True if most numbers are assumed unchanged, as between builds of one program, and the runs were made at different
    /// times. The difference of most of them is then the machine's.
    pub mostly_alike: bool,
    /// The stages that are switched off.
    #[serde(skip)]
    pub without: Without,
}

/// One measurement in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the measurement.
    pub name: Name,
    /// Direction in which the number improves.
    pub better: Better,
    /// The first run's median.
    pub first: f64,
    /// The second run's median.
    pub second: f64,
    /// Ratio of the second one's launches to the first one's, with its interval; `None` if a median is not above 0.
    pub effect: Option<Effect>,
    /// The interval that decides: the narrower one of two one-sided tests if the number is the same, and otherwise that of
    /// `effect`.
    pub decided_by: Option<Effect>,
    /// The effect before the stages, and after each stage that changes the evidence of any number.
    pub steps: Vec<EffectAfter>,
    /// Number of launches on each side in which it was measured.
    pub launches: [usize; 2],
    /// True if both numbers are exact: their difference is one of the measured machines or programs.
    pub exact: bool,
    /// Number of launches on each side that are compared.
    pub compared: [usize; 2],
    /// Result of the comparison.
    pub verdict: Verdict,
}

/// The effect on a number at one place of the way to its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectAfter {
    /// The stage after which it is, or `launches` before any stage.
    pub stage: &'static str,
    /// The effect there.
    pub effect: Option<Effect>,
}

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRuns {
    /// Settings of the comparison.
    pub settings: Settings,
    /// The stages that changed the evidence, in their order.
    pub stages: Vec<&'static str>,
    /// The stages that are switched off and would have changed nothing.
    pub idle: Vec<&'static str>,
    /// What most numbers share, which may be the machine's, if that is assumed and known.
    pub shared: Option<Shared>,
    /// Performance states of the machine in which both runs were made, if there were several. Empty otherwise.
    pub states: Vec<MetState>,
    /// Share by which simple operations took longer in each run than on processors that no other guest uses, if it is
    /// known.
    pub slowed: Option<[f64; 2]>,
    /// Measurements of both, in the order of the first run.
    pub comparisons: Vec<Comparison>,
    /// Measurements of the first only.
    pub only_first: Vec<Name>,
    /// Measurements of the second only.
    pub only_second: Vec<Name>,
}

impl Default for Settings {
    /// Returns 95 % confidence and a margin of 5 % either way. Most numbers are not assumed unchanged.
    fn default() -> Self {
        Settings {
            confidence: 0.95,
            margin: 0.05,
            paired: false,
            mostly_alike: false,
            without: Without::default(),
        }
    }
}

/// Compares the second run with the first.
///
/// # Panics
/// If the confidence is not between 0 and 1, or the margin below 0.
pub fn compare(first: &Run, second: &Run, settings: Settings) -> ComparedRuns {
    let numbers = Numbers::of(first, second);
    let evidence = numbers.evidence([first, second], settings);
    let mut steps: Vec<Vec<EffectAfter>> = evidence.cases.iter().map(|_| Vec::new()).collect();
    let mut add = |stage: &'static str, evidence: &Evidence| {
        for (steps, case) in steps.iter_mut().zip(&evidence.cases) {
            let effect = case.effect(settings.confidence, settings.paired);
            steps.push(EffectAfter { stage, effect });
        }
    };
    add("launches", &evidence);
    let mut stages = Vec::new();
    let (evidence, idle) = stages::apply(evidence, |stage, _, after| {
        stages.push(stage.name);
        add(stage.name, after);
    });
    let comparisons = evidence.cases.iter().zip(steps);
    let comparisons =
        comparisons.map(|(case, steps)| Comparison { steps, ..compared(case, settings) });
    let speed = evidence.speed;
    let slowed = [first, second].map(|run| speed.and_then(|speed| speed.slowdown_of(run)));
    ComparedRuns {
        settings,
        shared: evidence.shared,
        states: stages::met(&evidence.states, [first, second]),
        slowed: if let [Some(a), Some(b)] = slowed { Some([a, b]) } else { None },
        comparisons: comparisons.collect(),
        stages,
        idle,
        only_first: numbers.only_first,
        only_second: numbers.only_second,
    }
}

/// Returns the comparison of a number after all stages.
fn compared(case: &Case, settings: Settings) -> Comparison {
    let Settings { confidence, paired, .. } = settings;
    let [effect, equivalence] =
        [confidence, equivalence_confidence(confidence)].map(|c| case.effect(c, paired));
    let exact = case.exact == [true; 2];
    let verdict = match exact {
        true => verdict::of_exact(case.medians, case.better),
        false => verdict::of_intervals(effect, equivalence, case.better, settings),
    };
    let [first, second] = case.medians;
    Comparison {
        name: case.name.clone(),
        better: case.better,
        first,
        second,
        effect,
        decided_by: if verdict == Verdict::Same { equivalence } else { effect },
        steps: Vec::new(),
        launches: case.launches,
        exact,
        compared: case.compared(),
        verdict,
    }
}

/// The measurements of two runs by name. Of two with one name the later counts.
struct Numbers<'a> {
    both: Vec<(Name, [&'a Measurement; 2])>,
    only_first: Vec<Name>,
    only_second: Vec<Name>,
}

impl<'a> Numbers<'a> {
    fn of(first: &'a Run, second: &'a Run) -> Numbers<'a> {
        let with_fabric = fabrics(first) > 1 || fabrics(second) > 1;
        let [of_first, of_second] = [first, second].map(|run| named(run, with_fabric));
        let (mut both, mut only_first) = (Vec::new(), Vec::new());
        for name in in_order(&of_first) {
            match of_second.get(name) {
                Some(&(_, b)) => both.push((name.clone(), [of_first[name].1, b])),
                None => only_first.push(name.clone()),
            }
        }
        let of_second_alone = in_order(&of_second).into_iter();
        let only_second =
            of_second_alone.filter(|name| !of_first.contains_key(name)).cloned().collect();
        Numbers { both, only_first, only_second }
    }

    fn evidence(&self, runs: [&Run; 2], settings: Settings) -> Evidence {
        let Settings { confidence, margin, .. } = settings;
        assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
        assert!(margin >= 0.0, "an equivalence margin is 0 or more, not {margin}");
        Evidence::of(runs, self.both.iter().cloned(), settings)
    }
}

type Named<'a> = BTreeMap<Name, (usize, &'a Measurement)>;

fn named(run: &Run, with_fabric: bool) -> Named<'_> {
    let name =
        |m: &Measurement| Name { fabric: with_fabric.then(|| m.fabric.clone()), ..Name::of(m) };
    run.measurements.iter().enumerate().map(|(index, m)| (name(m), (index, m))).collect()
}

fn in_order<'n>(named: &'n Named) -> Vec<&'n Name> {
    let mut names: Vec<_> = named.iter().collect();
    names.sort_by_key(|(_, (index, _))| *index);
    names.into_iter().map(|(name, _)| name).collect()
}

fn fabrics(run: &Run) -> usize {
    run.measurements.iter().map(|measurement| &measurement.fabric).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;
