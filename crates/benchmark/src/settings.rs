//! The choices of a user about every measurement.

use contract::TimeSpan;
use record::{Parameters, PeriodSearch, Required, SearchEnd, TrialLine};
use serde::{Deserialize, Serialize};

use crate::chain::Pipeline;
use crate::sizes::Sizes;

/// The settings of measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Message sizes; `None` for those of each benchmark.
    pub sizes: Option<Sizes>,
    /// Requested half-width of the median's interval, as a share of the median.
    pub precision: f64,
    /// Confidence of that interval.
    pub confidence: f64,
    /// Time limit of each measurement in seconds, including the warm-up.
    pub time_limit_s: f64,
    /// True if the user chose that limit. Otherwise a benchmark may have another one in virtual time.
    #[serde(default)]
    pub time_limit_is_chosen: bool,
    /// Shortest time of a measurement in seconds, even if its samples agree sooner: a machine keeps one performance
    /// state for milliseconds. If `samples_max` samples would take less time, untimed events are inserted between them.
    /// Equal samples in virtual time end sooner.
    pub time_min_s: f64,
    /// Minimum number of samples for which precision may end a measurement; below 30 the same as 30.
    pub samples_min: u64,
    /// Maximum number of samples.
    pub samples_max: u64,
    /// Number of repetitions of each measurement that can be repeated (`--turns`): all measurements are made once, then
    /// all again. A repetition has its share of `time_limit_s`, `time_min_s` and `samples_max`.
    pub repetitions: u32,
    /// Time that all measurements together should take, in seconds. Their own limits become shorter as it is used up.
    pub suite_limit_s: Option<f64>,
    /// Time from which the run makes no further launches than every case needs, in seconds.
    pub budget_s: Option<f64>,
    /// True if only the cases of the overview are measured.
    pub is_overview: bool,
    /// Seed of all random data, which are the sent data.
    pub seed: u64,
    /// Parameters with selected values, each with those values. Cases with another value of one are left out.
    pub only: Vec<(String, Vec<String>)>,
    /// The settings of searches for periods.
    pub real_time: RealTime,
    /// The pattern that `pmp` executes; without one it makes no measurement.
    pub pattern: Option<PatternText>,
    /// Algorithms of collectives, by name, and [`EVERY_ALGORITHM`]; if there are none, the fabric chooses.
    pub algorithms: Vec<String>,
    /// The matrix of `corner-turn`.
    pub corner_turn: CornerTurn,
    /// Chain that `pipeline` runs.
    pub pipeline: Pipeline,
    /// Settings of `traffic`.
    pub traffic: TrafficSettings,
    /// Maximum number of ranks of each host, in the order in which hosts are filled; empty if there is one host.
    #[serde(default)]
    pub host_slots: Vec<usize>,
}

/// The models of synthetic communication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficSettings {
    /// Rules of spatial locality, in the user's notation. If there are neither rules nor hits, those of the paper's
    /// figures.
    pub rules: Vec<String>,
    /// Probabilities of hits in the stack, in the user's notation.
    pub hits: Vec<String>,
    /// Number of messages that all ranks send together.
    pub messages: u64,
    /// Mean time between two messages of a rank in microseconds; 0 for none.
    pub gap_us: u64,
    /// Number of messages of a rank after which its stack is emptied; 0 for never.
    pub flush: u64,
}

impl Default for TrafficSettings {
    /// Returns settings with as many messages as in the paper's figures 7 and 8.
    fn default() -> Self {
        let (rules, hits) = (Vec::new(), Vec::new());
        TrafficSettings { rules, hits, messages: 3000, gap_us: 0, flush: 0 }
    }
}

/// Name of the fabric's own choice and all algorithms together.
pub const EVERY_ALGORITHM: &str = "all";

/// The matrix of the distributed corner turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CornerTurn {
    /// Order of the blocks: the name of a [`pattern::corner_turn::Design`].
    pub order: String,
    /// Numbers of rows and columns of the matrix; chosen by the number of ranks if not specified.
    pub matrix: Option<(u64, u64)>,
    /// Number of bytes of an element: 4, 8 or 16.
    pub element_bytes: u64,
}

impl Default for CornerTurn {
    fn default() -> Self {
        let order = pattern::corner_turn::Design::Balanced.name().into();
        CornerTurn { order, matrix: None, element_bytes: 8 }
    }
}

/// A message-passing pattern as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternText {
    /// Name in messages and results: the file's.
    pub name: String,
    /// Contents of the file.
    pub text: String,
}

/// The settings of the real-time benchmarks' search for the shortest period that the machine sustains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RealTime {
    /// Period in seconds that is tested instead of a search.
    pub period_s: Option<f64>,
    /// First period of the search, in seconds; measured if not specified.
    pub guess_s: Option<f64>,
    /// Duration of a trial, in seconds. If not specified: a second, or the time that is needed to show the requested
    /// miss rate with one miss forgiven, up to ten seconds; and four times as long if that shows too little.
    pub duration_s: Option<f64>,
    /// Number of instances of a trial, instead of its duration.
    pub instances: Option<u64>,
    /// Share of instances that may miss a deadline.
    pub miss_rate: f64,
    /// What is required of each instance besides its deadline, if the user requires a proof.
    #[serde(default)]
    pub required: Option<Required>,
    /// Trials of the run that is resumed. Those of the given period count as if this run had made them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<TrialLine>,
    /// Requested width of the interval of periods, as a share of its lower end.
    pub width: f64,
    /// Time limit of a search, in seconds, after which it returns the interval so far. No limit if not specified.
    pub search_limit_s: Option<f64>,
    /// Length of the confirmation of the period that was found, as a multiple of a trial; 0 for none. If not specified,
    /// 10 within `search_limit_s`, and 0 without a limit.
    pub confirm: Option<u32>,
    /// Number of repetitions of the whole search, to check whether its results agree.
    pub searches: u32,
    /// Shortest pause of the processor that counts, in seconds. If not specified, the cost of 20 readings of the clock,
    /// and at least 2 us.
    pub threshold_s: Option<f64>,
    /// Longest permitted pause of the processor, in seconds.
    pub pause_limit_s: Option<f64>,
    /// True if the system's tracer names the causes of pauses, if it is permitted.
    #[serde(default)]
    pub trace_pauses: bool,
    /// Time by which the system may end a sleep of a rank later, in seconds; the system's own if not specified.
    #[serde(default)]
    pub timer_slack_s: Option<f64>,
    /// Number of floating-point operations that a task computes in each of its periods, if a benchmark has tasks.
    pub load: Option<u64>,
    /// True if a search reports which pauses prevent which shorter period.
    pub explain: bool,
    /// Isolation of ranks from the operating system.
    pub os_isolation: OsIsolation,
    /// True if measurements are repeated without each part of that isolation in turn.
    pub ablate: bool,
}

/// OS isolation: measures that isolate a periodic job from the operating system. A fabric may refuse a part; the result
/// reports that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OsIsolation {
    /// True if memory is never paged out.
    pub lock: bool,
    /// True if ranks stay on their processor.
    pub pin: bool,
    /// True for a fixed priority above every other program (SCHED_FIFO).
    pub fifo: bool,
}

impl Default for OsIsolation {
    /// Returns the default, without a fixed priority. A rank that spins with one takes its processor from all other
    /// threads, including the system's own, and Linux then stops the rank for 50 ms in each second.
    fn default() -> Self {
        OsIsolation { lock: true, pin: true, fifo: false }
    }
}

impl Settings {
    /// Returns whether a case with these parameters is selected.
    pub(crate) fn wants(&self, parameters: &Parameters) -> bool {
        self.only.iter().all(|(name, values)| {
            parameters.get(name).is_none_or(|value| values.contains(&value.to_string()))
        })
    }

    /// Returns whether collectives are made by each of their algorithms, in addition to the fabric's own choice.
    pub(crate) fn wants_every_algorithm(&self) -> bool {
        self.algorithms.iter().any(|name| name == EVERY_ALGORITHM)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sizes: None,
            precision: 0.05,
            confidence: 0.95,
            time_limit_s: 2.0,
            time_limit_is_chosen: false,
            time_min_s: 0.1,
            samples_min: 30,
            samples_max: 10_000,
            repetitions: 1,
            suite_limit_s: None,
            budget_s: None,
            is_overview: false,
            seed: 1,
            algorithms: Vec::new(),
            only: Vec::new(),
            real_time: RealTime::default(),
            pattern: None,
            corner_turn: CornerTurn::default(),
            pipeline: Pipeline::default(),
            traffic: TrafficSettings::default(),
            host_slots: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the settings of one repetition of a measurement.
    pub(crate) fn of_a_repetition(&self) -> Settings {
        self.of_a_part(self.repetitions.max(1))
    }

    /// Returns the settings of one of `parts` parts of all measurements, 1 or more, with its share of the time and of
    /// the samples.
    pub fn of_a_part(&self, parts: u32) -> Settings {
        let share = |all: f64| all / f64::from(parts);
        Settings {
            time_limit_s: share(self.time_limit_s),
            time_min_s: share(self.time_min_s),
            samples_max: (self.samples_max / u64::from(parts)).max(1),
            suite_limit_s: self.suite_limit_s.map(share),
            ..self.clone()
        }
    }

    /// Returns settings for the whole catalogue in about a minute.
    pub fn quick() -> Self {
        Settings {
            time_limit_s: 0.5,
            // For some hundred cases, each in several launches.
            time_min_s: 0.06,
            samples_max: 4_000,
            suite_limit_s: Some(28.0),
            real_time: RealTime { duration_s: Some(0.05), ..RealTime::default() },
            ..Settings::default()
        }
    }
}

impl RealTime {
    /// Miss rate that permits no miss, as in the papers: no trial is long enough to forgive one.
    pub const NONE_MISSED: f64 = 1e-6;
    /// Lowest miss rate for whose proof a run can judge enough instances.
    pub const MISS_RATE_MIN: f64 = 1e-7;
}

impl Default for RealTime {
    fn default() -> Self {
        RealTime {
            period_s: None,
            guess_s: None,
            duration_s: None,
            instances: None,
            miss_rate: 0.01,
            required: None,
            earlier: Vec::new(),
            width: 0.02,
            search_limit_s: None,
            confirm: None,
            searches: 1,
            threshold_s: None,
            pause_limit_s: None,
            trace_pauses: false,
            timer_slack_s: None,
            load: None,
            explain: false,
            os_isolation: OsIsolation::default(),
            ablate: false,
        }
    }
}

/// Shortest and longest default time of a trial, in seconds.
const TRIAL_S: f64 = 1.0;
const TRIAL_MAX_S: f64 = 10.0;
/// Slightly more than the factor by which the instances that prove a rate with one miss exceed those that prove it
/// without a miss.
const FORGIVING: f64 = 1.6;

impl RealTime {
    /// Returns whether the trials of a required period are too few so far for any verdict, and these settings ask for
    /// more of them. A resumed run then makes the others.
    pub fn continues(&self, search: &PeriodSearch) -> bool {
        let made: u64 = search.trials.iter().map(|trial| trial.instances).sum();
        let period_us = search.trials.first().map_or(0.0, |trial| trial.period_us);
        let is_given = self.period_s.is_some() && search.end == SearchEnd::OnePeriod;
        let is_open = is_given && self.required.is_some() && search.longest_refused_us.is_none();
        let requested =
            || self.instances(TimeSpan::from_s(period_us / 1e6), search.instances_needed);
        is_open && made < search.instances_needed && made < requested()
    }

    /// Returns the minimum duration of a trial, in seconds.
    pub(crate) fn trial_s(&self) -> f64 {
        self.duration_s.unwrap_or(TRIAL_S)
    }

    /// Returns whether the user left the length of a trial open.
    pub(crate) fn trials_are_free(&self) -> bool {
        self.duration_s.is_none() && self.instances.is_none()
    }

    /// Returns the number of instances in a trial of `period`, if `needed` instances without a miss prove the requested
    /// rate.
    pub(crate) fn instances(&self, period: TimeSpan, needed: u64) -> u64 {
        let within = |seconds: f64| (seconds / period.as_s()).ceil();
        let instances = match (self.instances, self.duration_s) {
            (Some(instances), _) => instances as f64,
            (None, Some(duration_s)) => within(duration_s),
            (None, None) => {
                (FORGIVING * needed as f64).min(within(TRIAL_MAX_S)).max(within(TRIAL_S))
            }
        };
        instances.max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_as_long_as_asked_or_as_the_proof_needs() {
        let period = TimeSpan::from_us(10_000);
        let requested =
            |duration_s, instances| RealTime { duration_s, instances, ..RealTime::default() };
        // A second has 100 instances of 10 ms, the proof needs 1.6 times 299.
        assert_eq!(requested(None, None).instances(period, 299), 478);
        assert_eq!(requested(None, None).instances(TimeSpan::from_us(100), 299), 10_000);
        assert_eq!(requested(None, None).instances(TimeSpan::from_us(500_000), 299), 20);
        assert_eq!(requested(Some(0.5), None).instances(period, 299), 50);
        assert_eq!(requested(Some(0.5), Some(7)).instances(period, 299), 7);
        assert_eq!(requested(Some(0.001), None).instances(period, 299), 1);
    }
}
