//! What two runs say of each number: the launches of both sides, and what was timed beside them. Stages change it.

use record::{Better, Measurement, Run};
use serde::Serialize;

use super::shift::{self, Shift, Stratum};
use super::{Effect, Name, Settings};
use crate::line_states::{LineStates, Lines, known_lines};
use crate::machine::Machine;
use crate::processor_speed::Speed;
use crate::statistics::{Sample, median_interval};
use crate::student;

/// The evidence of all numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evidence {
    pub(super) settings: Settings,
    /// The performance states that the launches of both runs met.
    pub(super) states: LineStates,
    /// The commonest state of each run, if the runs are of different machines. The hand-overs within one machine say
    /// nothing of those within another.
    pub(super) of_machines: Option<[usize; 2]>,
    /// The speed of the processors, if both runs are of one machine and timed operations.
    pub(super) speed: Option<Speed>,
    pub(super) cases: Vec<Case>,
    /// What most numbers share, once a stage has found it.
    pub(super) shared: Option<Shared>,
}

/// The evidence of one number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) name: Name,
    pub(super) better: Better,
    /// The numbers of both runs, as they are printed.
    pub(super) medians: [f64; 2],
    /// Whether the number of a side is exact.
    pub(super) exact: [bool; 2],
    /// Number of launches of each side.
    pub(super) launches: [usize; 2],
    /// The launches of each side that are compared.
    pub(super) sides: [Vec<Launch>; 2],
    /// Whether both sides met a state of the machine in common, as far as it is known.
    pub(super) have_met: bool,
    /// Standard error that stages add to that of the launches.
    pub(super) error: f64,
    /// A part of the difference, as a logarithm, that may be the machine's: the interval contains the difference with it
    /// and without it.
    pub(super) shared: f64,
}

/// What the numbers of two runs share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shared {
    /// Ratio by which the number in the middle is worse in the second run.
    pub worse_by: f64,
    /// Standard error of the logarithms around it, beyond that of launches.
    pub error: f64,
}

/// One launch of a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Launch {
    /// Median of its samples.
    pub(super) median: f64,
    /// Number of its samples, if it is known.
    pub(super) samples: Option<u64>,
    /// The logarithm that is compared: that of the median, unless a stage changes it.
    pub(super) log: f64,
    /// Hand-overs of a cache line before and after it, if they were timed.
    pub(super) lines: Option<Lines>,
    /// Slowdown of the processors during it, if it is known.
    pub(super) slowdown: Option<f64>,
    /// Launches are compared with those of the same group.
    pub(super) group: usize,
}

impl Evidence {
    /// Returns the evidence of the numbers that both runs have under these names.
    pub(super) fn of<'a>(
        runs: [&Run; 2],
        numbers: impl Iterator<Item = (Name, [&'a Measurement; 2])>,
        settings: Settings,
    ) -> Evidence {
        let lines = runs.map(known_lines);
        let states = LineStates::of(&lines.concat());
        let machine = |run: &Run| run.headers.last().map(Machine::of);
        let of_machines = (machine(runs[0]) != machine(runs[1]))
            .then(|| [0, 1].map(|side: usize| states.commonest(&lines[side])));
        let speed = Speed::of(&runs).filter(|_| of_machines.is_none());
        let cases = numbers.map(|(name, both)| Case::of(name, both, speed)).collect();
        Evidence { settings, states, of_machines, speed, cases, shared: None }
    }
}

impl Case {
    fn of(name: Name, both: [&Measurement; 2], speed: Option<Speed>) -> Case {
        Case {
            name,
            better: both[0].better,
            medians: both.map(|m| m.summary.median),
            exact: both.map(Measurement::is_exact),
            launches: both.map(|m| m.launches().len()),
            sides: both.map(|m| launches(m, speed)),
            have_met: true,
            error: 0.0,
            shared: 0.0,
        }
    }

    /// Returns the number of launches of each side that are compared.
    pub(super) fn compared(&self) -> [usize; 2] {
        if self.have_met { self.sides.each_ref().map(Vec::len) } else { [0, 0] }
    }

    /// Returns the ratio of the second side to the first one with its interval, or `None` if a value is not above 0,
    /// because a ratio has no meaning then.
    pub(super) fn effect(&self, confidence: f64, paired: bool) -> Option<Effect> {
        if self.exact == [true; 2] {
            return self.effect_of_exact();
        }
        let shift = self.shift(confidence, paired)?;
        let reach = self.quantile(confidence, paired) * self.error;
        let down = (shift.middle - shift.low).hypot(reach) + self.shared.max(0.0);
        let up = (shift.high - shift.middle).hypot(reach) - self.shared.min(0.0);
        Some(Effect {
            ratio: shift.middle.exp(),
            low: (shift.middle - down).exp(),
            high: (shift.middle + up).exp(),
            confidence: if self.have_met { shift.confidence } else { 0.0 },
        })
    }

    /// Returns the difference of the logarithms of both sides, without the errors that stages add.
    pub(super) fn shift(&self, confidence: f64, paired: bool) -> Option<Shift> {
        if !self.sides.iter().flatten().all(|launch| launch.log.is_finite()) {
            return None;
        }
        let logs: [Vec<f64>; 2] =
            self.sides.each_ref().map(|side| side.iter().map(|one| one.log).collect());
        Some(match self.exact {
            [true, false] => from_exact(logs[0][0], &logs[1], confidence),
            [false, true] => from_exact(logs[1][0], &logs[0], confidence).opposite(),
            _ if self.is_paired(paired) => shift::paired(&logs[0], &logs[1], confidence),
            _ => shift::between(&self.groups(), confidence),
        })
    }

    /// Returns 1 if a larger number is worse, and -1 otherwise.
    pub(super) fn sign(&self) -> f64 {
        if self.better == Better::Lower { 1.0 } else { -1.0 }
    }

    /// Returns the quantile of Student's t for the launches that are compared.
    pub(super) fn quantile(&self, confidence: f64, paired: bool) -> f64 {
        let [n, m] = self.sides.each_ref().map(Vec::len);
        let freedom = if self.is_paired(paired) { n } else { n + m - 1 };
        student::two_sided(confidence, freedom.saturating_sub(1).max(1))
    }

    /// Returns whether launches with the same number are compared pair by pair.
    pub(super) fn is_paired(&self, paired: bool) -> bool {
        paired && self.sides[0].len() == self.sides[1].len()
    }

    /// Returns the logarithms of both sides by group, without groups that only one side has.
    pub(super) fn groups(&self) -> Vec<Stratum> {
        let of = |side: usize, group: usize| {
            let of_group = self.sides[side].iter().filter(|launch| launch.group == group);
            of_group.map(|launch| launch.log).collect::<Vec<f64>>()
        };
        let last = self.sides[0].iter().map(|launch| launch.group).max().unwrap_or(0);
        let groups = (0..=last).map(|group| [of(0, group), of(1, group)]);
        groups.filter(|both: &Stratum| both.iter().all(|side| !side.is_empty())).collect()
    }

    /// Returns the ratio of two exact numbers. There is none if a number is negative, unless both are equal.
    fn effect_of_exact(&self) -> Option<Effect> {
        let [a, b] = self.medians;
        let ratio = if a == b { 1.0 } else { b / a };
        let has_ratio = a == b || a >= 0.0 && b >= 0.0;
        has_ratio.then_some(Effect { ratio, low: ratio, high: ratio, confidence: 1.0 })
    }
}

/// Returns the difference of launches from an exact number, with the interval of their median.
fn from_exact(exact: f64, logs: &[f64], confidence: f64) -> Shift {
    let launches = Sample::new(logs).expect("a number has a launch");
    let interval = median_interval(&launches, confidence);
    let below = launches.sorted().partition_point(|&log| log < interval.low);
    Shift {
        middle: launches.median() - exact,
        low: interval.low - exact,
        high: interval.high - exact,
        confidence: interval.confidence,
        left_out: [below, logs.len()],
    }
}

/// Returns the launches of a measurement. What was not timed beside each of them is not known of any.
fn launches(measurement: &Measurement, speed: Option<Speed>) -> Vec<Launch> {
    let medians = measurement.launches();
    let slowdowns = speed.map(|speed| speed.slowdowns(measurement)).unwrap_or_default();
    // A launch that was measured at one go is one turn.
    let are_turns = measurement.turns.len() == medians.len();
    let samples = |index: usize| are_turns.then(|| measurement.turns[index].samples);
    let launch = |(index, &median): (usize, &f64)| Launch {
        median,
        samples: samples(index),
        log: if median > 0.0 { median.ln() } else { f64::NAN },
        lines: measurement.launch_lines_us.get(index).copied(),
        slowdown: slowdowns.get(index).copied(),
        group: 0,
    };
    medians.iter().enumerate().map(launch).collect()
}
