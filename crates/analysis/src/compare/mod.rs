//! Two runs, measurement by measurement: faster, slower, same, or undecided.
//!
//! The effect is the ratio of the second run's launches to the first one's, with an interval from their ranks alone
//! ([`shift`]). Launches of one build differ by more than their samples do, so one launch on a side tells nothing of
//! the builds ([`Settings::one_launch_tells`]). Where one launch is as good as many, the effect is the ratio of the
//! medians, and its interval comes from the raw samples: the nonparametric ones of both medians, combined on the
//! logarithmic scale, their ranks moved outwards by what the samples depend on their neighbours and their ends by half
//! a tick of a coarse clock.

mod between_runs;
mod correlation;
mod effect;
mod enough;
mod interim;
mod shift;

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Key, Measurement, Run};
use serde::Serialize;

pub use effect::{Effect, effect_between};
pub use enough::MissingLaunches;
pub use interim::interim_checks;

use crate::statistics::reaches;
use crate::student;
use correlation::FREEDOM;

/// What a comparison says of the second run, seen from the first. Differences count beyond the equivalence margin, so a
/// change of 4 to 6 % is neither the same within 5 % nor certainly different: it is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better by more than the margin: a time that fell, or a rate that rose.
    Faster,
    /// Worse by more than the margin.
    Slower,
    /// The interval of two one-sided tests lies within the margin: at 95 % the one that holds 90 %.
    Same,
    /// None of these: the samples are too few or too far apart, or the change is about as large as the margin.
    Undecided,
}

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The confidence of the intervals and, over all comparisons together, of the verdicts faster and slower.
    pub confidence: f64,
    /// Ratios from 1 / (1 + margin) to 1 + margin count as the same.
    pub margin: f64,
    /// Whether one launch tells as much as many would: on simulated machines, where launches do not differ. Otherwise
    /// what was measured in one launch, on either side, ends with *undecided*.
    pub one_launch_tells: bool,
    /// Whether launches of the same place on both sides were made next to each other, and are compared pair by pair.
    pub paired: bool,
    /// Whether most numbers can be taken for unchanged, as between builds of one program. What most of them differ by
    /// is then what the machine did, and intervals of runs of different minutes are wider by as much.
    pub mostly_alike: bool,
}

/// One measurement in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What was measured in both.
    pub name: Name,
    /// Which direction is good.
    pub better: Better,
    /// The first run's median.
    pub first: f64,
    /// The second run's median.
    pub second: f64,
    /// How many times the first one's launches the second one's are, with its own interval; none where a median is not
    /// above 0.
    pub effect: Option<Effect>,
    /// The same with the interval that must lie within the margin for *same*.
    #[serde(skip)]
    equivalence: Option<Effect>,
    /// In how many launches it was measured on each side.
    pub launches: [usize; 2],
    /// What it comes to.
    pub verdict: Verdict,
}

/// What tells a measurement of a run from all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Name {
    /// Benchmark, ranks, parameters and size.
    pub key: Key,
    /// The metric.
    pub metric: String,
    /// Its unit: values in different units are never compared.
    pub unit: String,
    /// The fabric, if a run has more than one. Else the fabrics may differ: that is what is compared.
    pub fabric: Option<String>,
}

impl Name {
    /// The name of a measurement in a run over one fabric.
    pub fn of(measurement: &Measurement) -> Name {
        Name {
            key: measurement.key(),
            metric: measurement.metric.clone(),
            unit: measurement.unit.clone(),
            fabric: None,
        }
    }
}

/// All that two runs have to say to each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRuns {
    /// How they were compared.
    pub settings: Settings,
    /// How many times as much most numbers differ as launches of one run do, if they do; intervals are wider by as
    /// much.
    pub excess: Option<f64>,
    /// What both measured, in the order of the first run.
    pub comparisons: Vec<Comparison>,
    /// What only the first measured.
    pub only_first: Vec<Name>,
    /// What only the second measured.
    pub only_second: Vec<Name>,
}

impl Default for Settings {
    /// 95 % confidence, and 5 % either way is the same; one launch tells nothing, and nothing is said of what most
    /// numbers do.
    fn default() -> Self {
        Settings {
            confidence: 0.95,
            margin: 0.05,
            one_launch_tells: false,
            paired: false,
            mostly_alike: false,
        }
    }
}

/// Compares the second run with the first.
///
/// *Same* needs two one-sided tests, each of which may err with 1 - confidence, to say that the ratio is within the margin
/// (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). *Faster* and *slower* need the whole
/// interval beyond it. As hundreds of measurements are compared at once, of which some would seem to differ by chance,
/// the step-up procedure of Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995) is applied to
/// these two: of all verdicts *faster* and *slower* a share of 1 - confidence at most is false. So an interval, which
/// stands on its own, may just exclude the margin and the verdict still be *undecided*. A measurement with too few
/// launches for the wanted confidence, in either run, always ends with *undecided*.
///
/// # Panics
/// If the confidence is not between 0 and 1, or the margin below 0.
pub fn compare(first: &Run, second: &Run, settings: Settings) -> ComparedRuns {
    let Settings { confidence, margin, .. } = settings;
    assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
    assert!(margin >= 0.0, "an equivalence margin is 0 or more, not {margin}");
    let with_fabric = fabrics(first) > 1 || fabrics(second) > 1;
    let [in_first, in_second] = [first, second].map(|run| Named::new(run, with_fabric, settings));
    let mut comparisons = Vec::new();
    let mut only_first = Vec::new();
    for name in in_first.order() {
        if in_second.measurements.contains_key(name) {
            comparisons.push(in_first.against(&in_second, name));
        } else {
            only_first.push(name.clone());
        }
    }
    let excess = settings.mostly_alike.then(|| between_runs::excess(&comparisons, settings));
    let excess = excess.flatten();
    comparisons.iter_mut().for_each(|one| one.widen(excess.unwrap_or(1.0)));
    judge(&mut comparisons, settings);
    let only_second = in_second
        .order()
        .into_iter()
        .filter(|name| !in_first.measurements.contains_key(name))
        .cloned()
        .collect();
    ComparedRuns { settings, excess, comparisons, only_first, only_second }
}

fn fabrics(run: &Run) -> usize {
    run.measurements.iter().map(|measurement| &measurement.fabric).collect::<BTreeSet<_>>().len()
}

/// The measurements of a run by name, with their positions. Of two with one name the later counts.
struct Named<'a> {
    measurements: BTreeMap<Name, (usize, &'a Measurement)>,
    settings: Settings,
}

impl<'a> Named<'a> {
    fn new(run: &'a Run, with_fabric: bool, settings: Settings) -> Self {
        let measurements = run
            .measurements
            .iter()
            .enumerate()
            .map(|(index, measurement)| {
                let fabric = with_fabric.then(|| measurement.fabric.clone());
                (Name { fabric, ..Name::of(measurement) }, (index, measurement))
            })
            .collect();
        Named { measurements, settings }
    }

    fn order(&self) -> Vec<&Name> {
        let mut names: Vec<_> = self.measurements.iter().collect();
        names.sort_by_key(|(_, (index, _))| *index);
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// The comparison of what both hold under `name`, still without a verdict.
    fn against(&self, other: &Named, name: &Name) -> Comparison {
        let [first, second] = [self, other].map(|named| named.measurements[name].1);
        let Settings { confidence, paired, .. } = self.settings;
        let source = self.source(other, name);
        let effect = |confidence: f64| match source {
            Some(source) => effect::effect(source, confidence, paired).map(Effect::inverse),
            None => effect::effect([first, second], confidence, paired),
        };
        Comparison {
            name: name.clone(),
            better: first.better,
            first: first.summary.median,
            second: second.summary.median,
            effect: effect(confidence),
            equivalence: effect(equivalence_confidence(confidence)),
            launches: [first, second].map(|m| m.launches().len()),
            verdict: Verdict::Undecided,
        }
    }

    /// What a metric without samples was computed from in both runs, as a rate is from a time: another metric of the
    /// same key that has samples, the product of the two medians being the same in both.
    fn source(&self, other: &Self, name: &Name) -> Option<[&'a Measurement; 2]> {
        let [first, second] = [self, other].map(|named| named.measurements[name].1);
        if !(first.samples.is_empty() && second.samples.is_empty()) {
            return None;
        }
        self.measurements
            .iter()
            .filter(|(source, _)| source.key == name.key && source.fabric == name.fabric)
            .filter_map(|(source, (_, a))| Some([*a, other.measurements.get(source)?.1]))
            .filter(|sources| sources.iter().all(|source| !source.samples.is_empty()))
            .find(|[a, b]| {
                let product = |m: &Measurement, source: &Measurement| {
                    m.summary.median * source.summary.median
                };
                // Medians between two samples are not quite inverse to each other.
                (product(first, a) / product(second, b) - 1.0).abs() < 0.01
            })
    }
}

/// The confidence of the interval between two one-sided tests of this confidence each.
fn equivalence_confidence(confidence: f64) -> f64 {
    (2.0 * confidence - 1.0).max(confidence / 2.0)
}

/// Gives each comparison its verdict.
fn judge(comparisons: &mut [Comparison], settings: Settings) {
    // Candidates for a difference: the farther beyond the margin in units of the interval, the surer.
    let mut candidates = Vec::new();
    for (index, comparison) in comparisons.iter_mut().enumerate() {
        let is_told = settings.one_launch_tells || comparison.launches.iter().all(|&n| n > 1);
        let is_sure = |e: &Effect| is_told && reaches(e.confidence, settings.confidence);
        let Some(effect) = comparison.effect.filter(is_sure) else { continue };
        if comparison.equivalence.is_some_and(|narrow| narrow.within(settings.margin)) {
            comparison.verdict = Verdict::Same;
        }
        candidates.push((effect.distance(settings.margin), freedom(comparison, settings), index));
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let alpha = 1.0 - settings.confidence;
    let all = candidates.len();
    // The widths of the intervals are estimates, from a few launches or blocks of each run: so t, not the normal
    // quantile.
    let holds = |&(rank, &(distance, freedom, _)): &(usize, &(f64, usize, usize))| {
        let quantile = |alpha: f64| student::two_sided(1.0 - alpha, freedom);
        distance > quantile(alpha * (rank + 1) as f64 / all as f64) / quantile(alpha)
    };
    // Step up: the last of the candidates that holds at alpha k / K takes all surer ones with it.
    let last = candidates.iter().enumerate().rev().find(holds).map(|(rank, _)| rank);
    for &(_, _, index) in candidates.iter().take(last.map_or(0, |last| last + 1)) {
        comparisons[index].verdict = comparisons[index].direction();
    }
}

/// The degrees of freedom of a comparison's interval.
fn freedom(comparison: &Comparison, settings: Settings) -> usize {
    match comparison.launches {
        [1, 1] => 2 * FREEDOM,
        [pairs, _] if settings.paired => pairs.saturating_sub(1).max(1),
        [first, second] => (first + second).saturating_sub(2).max(1),
    }
}

impl Effect {
    /// Moves both ends so many times as far from the ratio, on the logarithmic scale.
    fn widen(&mut self, times: f64) {
        if times > 1.0 {
            self.low = self.ratio * (self.low / self.ratio).powf(times);
            self.high = self.ratio * (self.high / self.ratio).powf(times);
        }
    }

    fn within(&self, margin: f64) -> bool {
        1.0 / (1.0 + margin) <= self.low && self.high <= 1.0 + margin
    }

    /// How far the ratio lies beyond the margin, in units of the interval on that side: above 1 if the whole interval
    /// does, and negative if not even the ratio does.
    fn distance(&self, margin: f64) -> f64 {
        let log = self.ratio.ln();
        let beyond = log.abs() - margin.ln_1p();
        let reach = if log < 0.0 { self.high.ln() - log } else { log - self.low.ln() };
        if reach == 0.0 { beyond.signum() * f64::INFINITY } else { beyond / reach }
    }
}

impl Comparison {
    /// Whether the measurement became worse by more than `threshold`, as [`ComparedRuns::regressions`] has it.
    pub fn is_regression(&self, threshold: f64) -> bool {
        self.verdict == Verdict::Slower
            && self.worsening().is_some_and(|worse| worse.low > 1.0 + threshold)
    }

    /// Makes both intervals so many times as wide, on the logarithmic scale.
    fn widen(&mut self, times: f64) {
        let effects = [&mut self.effect, &mut self.equivalence];
        effects.into_iter().flatten().for_each(|effect| effect.widen(times));
    }

    fn direction(&self) -> Verdict {
        let up = self.effect.is_some_and(|effect| effect.ratio > 1.0);
        if up == (self.better == Better::Higher) { Verdict::Faster } else { Verdict::Slower }
    }

    /// How much worse the second run is, as a ratio above 1 for worse, with its interval: of times as they are, of
    /// rates their inverse, so that the time and the rate of one measurement say the same.
    fn worsening(&self) -> Option<Effect> {
        self.effect.map(|effect| match self.better {
            Better::Lower => effect,
            Better::Higher => effect.inverse(),
        })
    }
}

impl ComparedRuns {
    /// The measurements that became worse by more than `threshold` (0.1: a time longer by more than 10 %, or a rate
    /// below 1/1.1), of which the whole interval says so, and which the verdict calls slower. With a threshold of the
    /// margin or less these are all that are slower.
    pub fn regressions(&self, threshold: f64) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.is_regression(threshold))
    }

    /// The number of comparisons that have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.comparisons.iter().filter(|comparison| comparison.verdict == verdict).count()
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        })
    }
}

#[cfg(test)]
mod tests;
