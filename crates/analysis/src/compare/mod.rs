//! Two runs, measurement by measurement: faster, slower, same, or undecided.
//!
//! The effect is the ratio of the second run's launches to the first one's, with an interval from their ranks alone
//! ([`shift`]). Launches are compared with those that met the same performance state of the machine
//! ([`crate::line_states`]), as if the processors had been equally fast ([`crate::processor_speed`]). Launches of one
//! build differ by more than their samples do, so one launch on a side does not represent its build. Numbers of
//! simulated machines are exact, and are equal or different ([`exact`]).

mod between_runs;
mod effect;
mod enough;
mod exact;
mod interim;
mod name;
mod open;
mod shift;
mod speed;
mod strata;

use std::collections::{BTreeMap, BTreeSet};

use record::{Better, Measurement, Run};
use serde::Serialize;

pub use effect::{Effect, effect_between};
pub use enough::MissingLaunches;
pub use interim::interim_checks;
pub use name::Name;
pub use open::open_among;
pub use strata::MetState;

use crate::statistics::reaches;
use crate::student;
use strata::Strata;

/// Result of a comparison of the second run with the first. Differences count beyond the equivalence margin, so a
/// change of 4 to 6 % is neither the same within 5 % nor certainly different: it is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better by more than the margin: a time that fell, or a rate that rose.
    Faster,
    /// Worse by more than the margin.
    Slower,
    /// The interval of two one-sided tests is within the margin: at 95 % the interval of 90 %. Exact numbers: equal.
    Same,
    /// None of these: the samples are too few or too far apart, or the change is about as large as the margin.
    Undecided,
}

/// Settings of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Confidence of the intervals and, over all comparisons together, of the verdicts faster and slower.
    pub confidence: f64,
    /// Ratios from 1 / (1 + margin) to 1 + margin count as the same.
    pub margin: f64,
    /// True if launches with the same number on both sides were made one after the other, and are compared pair by
    /// pair.
    pub paired: bool,
    /// True if most numbers are assumed unchanged, as between builds of one program. The difference of most of them is
    /// then the machine's, and intervals of runs of different minutes are wider by as much.
    pub mostly_alike: bool,
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
    /// Ratio of the second one's launches to the first one's, with its own interval; `None` if a median is not above 0.
    /// Without launches on both sides, it is the ratio of the medians.
    pub effect: Option<Effect>,
    /// The same ratio with the interval that must be within the margin for *same*.
    #[serde(skip)]
    equivalence: Option<Effect>,
    /// Number of launches on each side in which it was measured.
    pub launches: [usize; 2],
    /// True if both numbers are exact: their difference is one of the measured machines or programs.
    pub exact: bool,
    /// Number of launches on each side that are compared, because the other side met their state as well.
    pub compared: [usize; 2],
    /// Result of the comparison.
    pub verdict: Verdict,
}

/// Comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRuns {
    /// Settings of the comparison.
    pub settings: Settings,
    /// Factor by which most numbers differ more than launches of one run do, if they do. Intervals are wider by that
    /// factor.
    pub excess: Option<f64>,
    /// Performance states of the machine in which both runs were made, if there were several. Empty otherwise.
    pub states: Vec<MetState>,
    /// Share by which simple operations took longer in each run than on processors that no other guest uses, if it is
    /// known. Launches are compared as if all had met the same slowdown.
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
        Settings { confidence: 0.95, margin: 0.05, paired: false, mostly_alike: false }
    }
}

/// Compares the second run with the first.
///
/// *Same* needs two one-sided tests, each of which may err with 1 - confidence, that show that the ratio is within the
/// margin (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). *Faster* and *slower* need the whole
/// interval beyond it. Hundreds of measurements are compared at once, and some would seem to differ by chance. The
/// step-up procedure of Benjamini and Hochberg (Journal of the Royal Statistical Society B 57, 1995) is therefore
/// applied to these two: of all verdicts *faster* and *slower* a share of at most 1 - confidence is false. An interval
/// stands on its own, so it may just exclude the margin while the verdict is *undecided*. A measurement with too few
/// launches for the requested confidence, in either run, is always *undecided*. Exact numbers never are: they are *same*
/// if they are equal, and *faster* or *slower* by any difference.
///
/// # Panics
/// If the confidence is not between 0 and 1, or the margin below 0.
pub fn compare(first: &Run, second: &Run, settings: Settings) -> ComparedRuns {
    let Settings { confidence, margin, .. } = settings;
    assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
    assert!(margin >= 0.0, "an equivalence margin is 0 or more, not {margin}");
    let with_fabric = fabrics(first) > 1 || fabrics(second) > 1;
    let strata = Strata::of(first, second);
    let [in_first, in_second] =
        [first, second].map(|run| Named::new(run, with_fabric, settings, &strata));
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
    let (states, slowed) = (strata.met([first, second]), strata.slowed([first, second]));
    ComparedRuns { settings, excess, states, slowed, comparisons, only_first, only_second }
}

fn fabrics(run: &Run) -> usize {
    run.measurements.iter().map(|measurement| &measurement.fabric).collect::<BTreeSet<_>>().len()
}

/// The measurements of a run by name, with their positions. Of two with one name the later counts.
struct Named<'a> {
    measurements: BTreeMap<Name, (usize, &'a Measurement)>,
    settings: Settings,
    strata: &'a Strata,
}

impl<'a> Named<'a> {
    fn new(run: &'a Run, with_fabric: bool, settings: Settings, strata: &'a Strata) -> Self {
        let measurements = run
            .measurements
            .iter()
            .enumerate()
            .map(|(index, measurement)| {
                let fabric = with_fabric.then(|| measurement.fabric.clone());
                (Name { fabric, ..Name::of(measurement) }, (index, measurement))
            })
            .collect();
        Named { measurements, settings, strata }
    }

    fn order(&self) -> Vec<&Name> {
        let mut names: Vec<_> = self.measurements.iter().collect();
        names.sort_by_key(|(_, (index, _))| *index);
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the comparison of both measurements under `name`, without a verdict unless both are exact.
    fn against(&self, other: &Named, name: &Name) -> Comparison {
        let [first, second] = [self, other].map(|named| named.measurements[name].1);
        let Settings { confidence, paired, .. } = self.settings;
        let source = self.source(other, name);
        let both = source.unwrap_or([first, second]);
        let confidences = [confidence, equivalence_confidence(confidence)];
        let (effects, compared) = effect::effects(both, confidences, paired, self.strata).unzip();
        let directed = |one: Effect| if source.is_some() { one.inverse() } else { one };
        let (own, equivalence) = effects.map(|effects| effects.map(directed).into()).unzip();
        let launches = [first, second].map(|m| m.launches().len());
        let exact = first.is_exact() && second.is_exact();
        let exactly = exact.then(|| exact::compared([first, second], first.better));
        let (own, verdict) = exactly.unwrap_or((own, Verdict::Undecided));
        Comparison {
            name: name.clone(),
            better: first.better,
            first: first.summary.median,
            second: second.summary.median,
            effect: own,
            equivalence,
            launches,
            exact,
            compared: compared.unwrap_or(launches),
            verdict,
        }
    }

    /// Returns the measurement from which a metric without samples was computed in both runs, as a rate is from a time.
    /// It is another metric of the same key that has samples, and the product of the two medians is the same in both
    /// runs.
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

/// Returns the confidence of the interval between two one-sided tests of this confidence each.
fn equivalence_confidence(confidence: f64) -> f64 {
    (2.0 * confidence - 1.0).max(confidence / 2.0)
}

/// Sets the verdict of each comparison that is not exact.
fn judge(comparisons: &mut [Comparison], settings: Settings) {
    // Candidates for a difference. The farther one is beyond the margin in units of the interval, the more certain it
    // is.
    let mut candidates = Vec::new();
    let open = comparisons.iter_mut().enumerate().filter(|(_, one)| !one.exact);
    for (index, comparison) in open {
        let Some(effect) = comparison.certain_effect(settings.confidence) else { continue };
        if comparison.equivalence.is_some_and(|narrow| narrow.within(settings.margin)) {
            comparison.verdict = Verdict::Same;
        }
        candidates.push((effect.distance(settings.margin), freedom(comparison, settings), index));
    }
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let alpha = 1.0 - settings.confidence;
    let all = candidates.len();
    // The widths of the intervals are estimates from a few launches or blocks of each run, so Student's t replaces the
    // normal quantile.
    let holds = |&(rank, &(distance, freedom, _)): &(usize, &(f64, usize, usize))| {
        let quantile = |alpha: f64| student::two_sided(1.0 - alpha, freedom);
        distance > quantile(alpha * (rank + 1) as f64 / all as f64) / quantile(alpha)
    };
    // Step up: the last candidate that passes at alpha k / K includes all more certain ones.
    let last = candidates.iter().enumerate().rev().find(holds).map(|(rank, _)| rank);
    for &(_, _, index) in candidates.iter().take(last.map_or(0, |last| last + 1)) {
        comparisons[index].verdict = comparisons[index].direction();
    }
}

/// Returns the degrees of freedom of a comparison's interval.
fn freedom(comparison: &Comparison, settings: Settings) -> usize {
    match comparison.compared {
        [pairs, _] if settings.paired => pairs.saturating_sub(1).max(1),
        [first, second] => (first + second).saturating_sub(2).max(1),
    }
}

impl Effect {
    /// Multiplies the distance of both ends from the ratio, on the logarithmic scale.
    fn widen(&mut self, times: f64) {
        if times > 1.0 {
            self.low = self.ratio * (self.low / self.ratio).powf(times);
            self.high = self.ratio * (self.high / self.ratio).powf(times);
        }
    }

    fn within(&self, margin: f64) -> bool {
        1.0 / (1.0 + margin) <= self.low && self.high <= 1.0 + margin
    }

    /// Returns the distance of the ratio beyond the margin, in units of the interval on that side: above 1 if the whole
    /// interval is beyond it, and negative if not even the ratio is.
    fn distance(&self, margin: f64) -> f64 {
        let log = self.ratio.ln();
        let beyond = log.abs() - margin.ln_1p();
        let reach = if log < 0.0 { self.high.ln() - log } else { log - self.low.ln() };
        if reach == 0.0 { beyond.signum() * f64::INFINITY } else { beyond / reach }
    }
}

impl Comparison {
    /// Returns the ratio of the second median to the first one: the change of the two numbers as they are printed. What
    /// is compared is `effect`, launch by launch.
    pub fn change(&self) -> Option<f64> {
        match self.exact {
            true => self.effect.map(|effect| effect.ratio),
            false => (self.first > 0.0 && self.second > 0.0).then(|| self.second / self.first),
        }
    }

    /// Returns the effect with its interval, if the interval reaches this confidence.
    pub fn certain_effect(&self, confidence: f64) -> Option<Effect> {
        self.effect.filter(|effect| reaches(effect.confidence, confidence))
    }

    /// Returns whether the measurement became worse by more than `threshold`, as defined at
    /// [`ComparedRuns::regressions`].
    pub fn is_regression(&self, threshold: f64) -> bool {
        self.verdict == Verdict::Slower
            && self.worsening().is_some_and(|worse| worse.low > 1.0 + threshold)
    }

    /// Multiplies the width of both intervals, on the logarithmic scale.
    fn widen(&mut self, times: f64) {
        let effects = [&mut self.effect, &mut self.equivalence];
        effects.into_iter().flatten().for_each(|effect| effect.widen(times));
    }

    fn direction(&self) -> Verdict {
        let up = self.effect.is_some_and(|effect| effect.ratio > 1.0);
        if up == (self.better == Better::Higher) { Verdict::Faster } else { Verdict::Slower }
    }

    /// Returns by which ratio the second run is worse, above 1 for worse, with its interval. Rates are inverted, so
    /// that the time and the rate of one measurement give the same ratio.
    fn worsening(&self) -> Option<Effect> {
        self.effect.map(|effect| match self.better {
            Better::Lower => effect,
            Better::Higher => effect.inverse(),
        })
    }
}

impl ComparedRuns {
    /// Returns the measurements that became worse by more than `threshold` (0.1: a time longer by more than 10 %, or a
    /// rate below 1/1.1) with their whole interval, and have the verdict slower. With a threshold of at most the margin
    /// these are all that are slower and not exact.
    pub fn regressions(&self, threshold: f64) -> impl Iterator<Item = &Comparison> {
        self.comparisons.iter().filter(move |comparison| comparison.is_regression(threshold))
    }

    /// Returns the number of comparisons with this verdict.
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
