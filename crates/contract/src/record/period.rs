//! What a search for the minimum sustainable period leaves.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Forecast, Key};

/// One trial: a period, kept up for a number of instances.
///
/// An instance is missed when any deadline of any rank within it is: deadlines are absolute, so that an instance that
/// ends late does not move the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The period in microseconds.
    pub period_us: f64,
    /// When the trial began, in seconds since the search did.
    pub begin_s: f64,
    /// How many instances were run. Fewer than planned where the first ones already showed that it cannot be sustained.
    pub instances: u64,
    /// How many of them missed a deadline.
    pub missed: u64,
    /// The upper confidence bound of the miss rate, by Clopper and Pearson: missed 0 of n gives about 3 / n at 95 %.
    /// Misses that come in bursts count as fewer, of fewer instances.
    pub miss_rate_max: f64,
    /// The lower confidence bound.
    #[serde(default)]
    pub miss_rate_min: f64,
    /// True if the trial counts for the period.
    pub sustained: bool,
    /// True if it counts against the period: it shows a higher miss rate than the wanted one. Where it does neither it
    /// shows too little.
    #[serde(default)]
    pub refused: bool,
    /// True if it shows the wanted miss rate. A trial with too few instances to show it counts for its period where
    /// it missed no deadline at all, and shows less.
    pub proven: bool,
    /// The median time from the beginning of an instance to its last end on any rank, in microseconds.
    pub response_median_us: f64,
    /// The longest.
    pub response_max_us: f64,
}

/// One of the instances that ended latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateInstance {
    /// The period that it missed, in microseconds.
    pub period_us: f64,
    /// Which instance of its trial, from 0.
    pub instance: u64,
    /// The rank that was late.
    pub rank: usize,
    /// The rank's stage, task or action that was late; the benchmark says what it numbers.
    pub stage: u64,
    /// How late, in microseconds.
    pub late_us: f64,
    /// When it ended, in seconds since the search began.
    pub at_s: f64,
}

/// A time in which a rank did not run though it had something to do: its processor did something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenPause {
    /// The rank.
    pub rank: usize,
    /// When it began, in seconds since the search began; of one that was seen by its end only, the latest that it can be.
    pub at_s: f64,
    /// How long it was, in microseconds; of one that was seen by its end only, at least.
    pub length_us: f64,
    /// What the rank was about.
    pub during: During,
}

/// What a rank was about when its processor paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum During {
    /// It was to begin at an instant, and began later.
    Waiting,
    /// It computed, and that took longer than else.
    Computing,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// Both ends of the interval are as close as wanted and were tried often enough.
    Settled,
    /// Too many trials contradicted each other: the interval holds for the trials that were made, and is wider than
    /// wanted or less sure.
    Unsettled,
    /// The time for the search was over: the interval is what the trials until then show, and wider than wanted or less
    /// often tried.
    TimeLimit,
    /// Even the longest period was refused.
    NeverSustained,
    /// Even the shortest period that the clock can tell was sustained.
    AlwaysSustained,
    /// One period was asked for, not the shortest.
    OnePeriod,
}

/// A search for the minimum sustainable period: an interval of periods, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodSearch {
    /// How it ended.
    pub end: SearchEnd,
    /// The longest period that all its trials refuse, as those of all shorter ones do, in microseconds.
    pub longest_refused_us: Option<f64>,
    /// The shortest period that is sustained by all its trials together, as all longer ones are, in microseconds.
    pub shortest_sustained_us: Option<f64>,
    /// The wanted miss rate: the share of instances that may miss a deadline.
    pub miss_rate: f64,
    /// The confidence of every bound on a miss rate.
    pub confidence: f64,
    /// True if the trials at the shortest sustained period show the wanted miss rate.
    pub proven: bool,
    /// The upper bound of the miss rate that all trials at the shortest sustained period show together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub miss_rate_max: Option<f64>,
    /// How many instances a trial needs to show it, if it misses none.
    pub instances_needed: u64,
    /// How long the search might take, in seconds; as long as it took if nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<f64>,
    /// The shortest sustained period, kept up for a multiple of a trial when the search was over. These instances alone show
    /// the miss rate that the search states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Trial>,
    /// Shorter periods that the search called sustained and that did not hold when they were kept up so, in the order in which
    /// that was found. They are among the trials, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<Trial>,
    /// How many times as long as a trial a confirmation was to be; 0 where none was to be made.
    #[serde(default)]
    pub confirm_times: u32,
    /// What was predicted before the first trial, and corrected by the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Why nothing was predicted, where that was to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_forecast: Option<String>,
    /// All trials, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// The latest instances of the trials that counted, then of the others, latest first.
    pub worst: Vec<LateInstance>,
    /// The longest pauses that the ranks met in these trials, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<SeenPause>,
    /// What was done to keep the operating system out of the way, and what it granted, by name.
    pub hygiene: BTreeMap<String, String>,
}

/// A trial as it is made: a line of its own, so that a search that is cut off keeps what it had. The search repeats it
/// when it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialLine {
    /// The measurement that it is for.
    #[serde(flatten)]
    pub key: Key,
    /// The fabric that it ran on.
    pub fabric: String,
    /// The trial.
    pub trial: Trial,
}
