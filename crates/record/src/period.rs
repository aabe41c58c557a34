//! The results of a search for the minimum sustainable period.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::measurement::is_first;
use super::{Forecast, Key};

/// One trial: a period, kept up for a number of instances.
///
/// An instance is missed when any deadline of any rank within it is missed. Deadlines are absolute, so an instance that
/// ends late does not move the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The period in microseconds.
    pub period_us: f64,
    /// Beginning, in seconds since the beginning of the search.
    pub begin_s: f64,
    /// Number of instances, fewer than planned if the first ones already showed that the period cannot be sustained.
    pub instances: u64,
    /// Number of instances that missed a deadline.
    pub missed: u64,
    /// Upper confidence bound of the miss rate, by Clopper and Pearson: 0 missed of n give about 3 / n at 95 %. Misses
    /// in bursts count as fewer misses of fewer instances.
    pub miss_rate_max: f64,
    /// Lower confidence bound.
    #[serde(default)]
    pub miss_rate_min: f64,
    /// True if the trial counts for the period.
    pub sustained: bool,
    /// True if it counts against the period: its miss rate is higher than the wanted one. If it counts neither way, the
    /// evidence is insufficient.
    #[serde(default)]
    pub refused: bool,
    /// True if it proves the wanted miss rate. A trial with too few instances to prove it counts for its period if it
    /// missed no deadline at all.
    pub proven: bool,
    /// Median time from the beginning of an instance to its last end on any rank, in microseconds.
    pub response_median_us: f64,
}

/// What is required of every instance besides its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Required {
    /// Longest time from the beginning of an instance to its last result, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<f64>,
    /// Largest deviation of the time between two results from the period, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_us: Option<f64>,
}

/// The requirement that an instance did not meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Broken {
    /// Its deadline.
    #[default]
    Deadline,
    /// The latency required.
    Latency,
    /// The jitter required.
    Jitter,
}

impl Broken {
    /// Returns whether it is the deadline, which is always required.
    pub fn is_deadline(&self) -> bool {
        *self == Broken::Deadline
    }
}

/// The distribution of a time over the judged instances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedTimes {
    /// The time: `response`, `latency` or `jitter`.
    pub metric: String,
    /// Number of instances.
    pub n: u64,
    /// Their median in microseconds.
    pub median_us: f64,
    /// The 99th and 99.9th percentile and that of the wanted miss rate, as far as there are enough instances that one is
    /// beyond it: share of the instances, and microseconds.
    pub tail_us: Vec<(f64, Option<f64>)>,
    /// Longest such time in microseconds.
    pub max_us: f64,
}

/// One of the instances that ended latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateInstance {
    /// Period that it missed, in microseconds.
    pub period_us: f64,
    /// Number of the instance in its trial, from 0.
    pub instance: u64,
    /// Rank that was late.
    pub rank: usize,
    /// Stage, task or action of the rank that was late; the benchmark defines the numbers.
    pub stage: u64,
    /// Lateness in microseconds, or the time by which it exceeds another requirement.
    pub late_us: f64,
    /// The requirement.
    #[serde(default, skip_serializing_if = "Broken::is_deadline")]
    pub broken: Broken,
    /// End, in seconds since the beginning of the search.
    pub at_s: f64,
}

/// A time in which a rank did not run though it had work: its processor did something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenPause {
    /// The rank.
    pub rank: usize,
    /// Beginning, in seconds since the beginning of the search. If only the end was observed, the latest possible one.
    pub at_s: f64,
    /// Length in microseconds. If only the end was observed, the minimum.
    pub length_us: f64,
    /// Activity of the rank.
    pub during: During,
    /// Number of the stage for which it computed, in a chain of stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u64>,
}

/// The activity of a rank when its processor paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum During {
    /// It should have begun at an instant, and began later.
    Waiting,
    /// It computed, and that took longer than otherwise.
    Computing,
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// Both ends of the interval are as close as requested and were tried often enough.
    Settled,
    /// Too many trials contradicted each other: the interval holds for the trials made, and is wider than requested or
    /// less certain.
    Unsettled,
    /// The time limit of the search was reached: the interval holds for the trials made until then, and is wider than
    /// requested or less often tried.
    TimeLimit,
    /// Even the longest period was refused.
    NeverSustained,
    /// Even the shortest period that the clock can resolve was sustained.
    AlwaysSustained,
    /// A single period was requested, not the shortest.
    OnePeriod,
}

/// A search for the minimum sustainable period: an interval of periods, and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodSearch {
    /// Outcome of the search.
    pub end: SearchEnd,
    /// Longest period that its trials together refuse, in microseconds.
    pub longest_refused_us: Option<f64>,
    /// Shortest period that is sustained, by its confirmation or else by all its trials together, in microseconds.
    pub shortest_sustained_us: Option<f64>,
    /// The wanted miss rate: the share of instances that may miss a deadline.
    pub miss_rate: f64,
    /// The confidence of every bound on a miss rate.
    pub confidence: f64,
    /// What else was required of each instance; an instance without it is missed. `None` if nothing was required by
    /// `--require`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Required>,
    /// The times of the judged instances at the period that is reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<JudgedTimes>,
    /// True if the trials at the shortest sustained period prove the wanted miss rate.
    pub proven: bool,
    /// Upper bound of the miss rate from all trials at the shortest sustained period together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss_rate_max: Option<f64>,
    /// Number of instances that a trial needs to prove it, if none is missed.
    pub instances_needed: u64,
    /// Time limit of the search in seconds; its duration if there was no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<f64>,
    /// Time from the beginning of the measurement to the end of the search, in seconds.
    #[serde(default)]
    pub spent_s: f64,
    /// The shortest sustained period, tested for longer after the search. These instances alone prove
    /// the miss rate that the search states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Trial>,
    /// Shorter periods that the search considered sustained and that failed this test, in the order of their tests.
    /// They are also among the trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<Trial>,
    /// Length of a confirmation in trials, if the user stated it; 0 if none was to be made.
    #[serde(default)]
    pub confirm_times: u32,
    /// The prediction before the first trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Reason why there is no prediction although one was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_forecast: Option<String>,
    /// Number of launches that tried one period, each with a trial; 0 for one launch, whose trials may be parts of a proof.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launches: usize,
    /// All trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// The latest instances of the trials that counted, then of the others, latest first.
    pub worst: Vec<LateInstance>,
    /// Longest pauses that the ranks observed in these trials, in chronological order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<SeenPause>,
    /// Isolation from the operating system that was requested, and what was granted, by name.
    pub hygiene: BTreeMap<String, String>,
}

impl PeriodSearch {
    /// Creates a search that has ended without a trial, for a miss rate at this confidence. The caller sets what it has found.
    pub fn new(end: SearchEnd, miss_rate: f64, confidence: f64) -> Self {
        PeriodSearch {
            end,
            longest_refused_us: None,
            shortest_sustained_us: None,
            miss_rate,
            confidence,
            required: None,
            judged: Vec::new(),
            proven: false,
            miss_rate_max: None,
            instances_needed: 0,
            limit_s: None,
            spent_s: 0.0,
            confirmation: None,
            unconfirmed: Vec::new(),
            confirm_times: 0,
            forecast: None,
            no_forecast: None,
            launches: 0,
            trials: Vec::new(),
            worst: Vec::new(),
            pauses: Vec::new(),
            hygiene: BTreeMap::new(),
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A trial in a line of its own, so that an interrupted search keeps its results. The search repeats it when it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialLine {
    /// Measurement to which it belongs.
    #[serde(flatten)]
    pub key: Key,
    /// Fabric on which it ran.
    pub fabric: String,
    /// Number of its launch, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub launch: u32,
    /// The trial.
    pub trial: Trial,
}
