//! One measurement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Pauses, PeriodSearch};

/// What else identifies a measurement besides its size, such as `packet_bytes` or `acknowledgement`.
pub type Parameters = BTreeMap<String, ParameterValue>;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// Yes or no.
    Flag(bool),
    /// A count or a size.
    Number(u64),
    /// A choice.
    Text(String),
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

/// Why sampling stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The interval of the median became as narrow as wanted.
    Precision,
    /// The time limit came first: the number did not converge.
    TimeLimit,
    /// The sample limit came first: the number did not converge.
    SampleLimit,
}

/// How the events were timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Events in each sample: 1 where single events are timed, more where the clock's own cost asks for it.
    pub events_per_sample: u64,
    /// The clock's cost as a share of a sample's length.
    pub clock_share: f64,
    /// How the ranks started together: `none` (one rank times), `time` (an agreed instant) or `barrier`.
    pub start: String,
    /// Samples set aside because a rank came late to the agreed start, and made again.
    pub late_starts: u64,
    /// Seconds spent on this measurement, warm-up included.
    pub spent_s: f64,
}

/// How many samples lie outside Tukey's fences. They are counted, never dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outliers {
    /// Below the first quartile by more than 3 interquartile ranges.
    pub low_severe: u64,
    /// Below it by more than 1.5 interquartile ranges, but not 3.
    pub low_mild: u64,
    /// Above the third quartile by more than 1.5 interquartile ranges, but not 3.
    pub high_mild: u64,
    /// Above it by more than 3 interquartile ranges.
    pub high_severe: u64,
}

/// What the samples say, in the measurement's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The lower end of the median's nonparametric confidence interval.
    pub ci_low: f64,
    /// Its upper end.
    pub ci_high: f64,
    /// The confidence that the interval reaches (at least the wanted one, if there are samples enough; else less).
    pub ci_confidence: f64,
    /// The mean, for comparison with publications that give means.
    pub mean: f64,
    /// The smallest sample.
    pub min: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The largest sample.
    pub max: f64,
    /// The number of samples.
    pub n: u64,
    /// Samples beyond Tukey's fences.
    pub outliers: Outliers,
}

impl Summary {
    /// Returns a number and its interval that do not come from samples: `n` is what they stand for.
    pub fn of_interval((low, middle, high): (f64, f64, f64), n: u64, confidence: f64) -> Self {
        Summary {
            median: middle,
            ci_low: low,
            ci_high: high,
            ci_confidence: confidence,
            mean: middle,
            min: low,
            p99: high,
            p999: high,
            max: high,
            n,
            outliers: Outliers::default(),
        }
    }

    /// Half the width of the median's interval as a share of the median; 0 where the median is not positive.
    pub fn half_width(&self) -> f64 {
        if self.median > 0.0 { (self.ci_high - self.ci_low) / 2.0 / self.median } else { 0.0 }
    }
}

/// How much a link of a simulated network was used while a measurement was made, its warm-up included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    /// The link's name, such as `node 3 to 4`.
    pub link: String,
    /// The share of the time in which it carried packets, 0 to 1.
    pub share: f64,
    /// How many packets it carried.
    pub packets: u64,
}

/// One measurement: what was measured, what the samples say, why sampling stopped, and the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The benchmark's name.
    pub benchmark: String,
    /// The benchmark's group.
    pub group: String,
    /// The fabric it ran on.
    pub fabric: String,
    /// Which launch of the ranks it was made in, of those that the run made for this case, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub launch: u32,
    /// The number of ranks.
    pub ranks: usize,
    /// The message size in bytes; 0 where none is sent.
    pub size_bytes: u64,
    /// What else tells this measurement from its neighbours.
    pub parameters: Parameters,
    /// What was measured: `time`, `rate` ...
    pub metric: String,
    /// The unit of `metric` and of every value here: `us`, `MB/s` ...
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// What the samples say.
    #[serde(flatten)]
    pub summary: Summary,
    /// Why sampling stopped.
    pub stop_reason: StopReason,
    /// How the events were timed.
    pub timing: Timing,
    /// The samples in the order in which they were taken. Empty for a metric that is computed from another one of the
    /// same measurement (a rate from a time).
    pub samples: Vec<f64>,
    /// The samples of the warm-up, kept and set apart.
    pub warm_up_samples: Vec<f64>,
    /// How a period was searched for or kept, where that is what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<PeriodSearch>,
    /// The busiest links of a simulated network, in the network's own order, beside the first metric of a measurement.
    /// None on other fabrics, and none in files from before this was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_use: Vec<LinkUse>,
    /// Where it was made in several turns: those turns, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// When a processor paused, where that is what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Where it stands for several launches, as no record in a file does: the median of each.
    #[serde(skip)]
    pub launch_medians: Vec<f64>,
}

impl Measurement {
    /// Returns a metric and its numbers, to be completed with what was measured and where: of the first launch of one
    /// rank, without samples, and as precise as was asked for.
    pub fn new(metric: &str, unit: &str, better: Better, summary: Summary) -> Self {
        Measurement {
            benchmark: String::new(),
            group: String::new(),
            fabric: String::new(),
            launch: 0,
            ranks: 1,
            size_bytes: 0,
            parameters: Parameters::new(),
            metric: metric.into(),
            unit: unit.into(),
            better,
            summary,
            stop_reason: StopReason::Precision,
            timing: Timing::of_single_events("none", 0.0),
            samples: Vec::new(),
            warm_up_samples: Vec::new(),
            search: None,
            link_use: Vec::new(),
            turns: Vec::new(),
            pauses: None,
            launch_medians: Vec::new(),
        }
    }
}

/// Returns whether a launch is the first, of which records say nothing.
fn is_first(launch: &u32) -> bool {
    *launch == 0
}

/// A part of a measurement, made by itself some time after the part before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// How many of the samples are its own; those of the turns follow each other.
    pub samples: u64,
    /// The clock's cost as a share of one of its samples' length.
    pub clock_share: f64,
    /// What handing a cache line from the first rank to the second took just before and just after it, in microseconds,
    /// where they have processors of their own and see the same memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_us: Option<[f64; 2]>,
}

/// What identifies a measurement: two runs are compared, and a run is resumed, key by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The benchmark's name.
    pub benchmark: String,
    /// The number of ranks.
    pub ranks: usize,
    /// What else tells it from its neighbours.
    pub parameters: Parameters,
    /// The message size in bytes.
    pub size_bytes: u64,
}

impl Measurement {
    /// Returns what identifies this measurement apart from fabric and metric.
    pub fn key(&self) -> Key {
        Key {
            benchmark: self.benchmark.clone(),
            ranks: self.ranks,
            parameters: self.parameters.clone(),
            size_bytes: self.size_bytes,
        }
    }
}

impl Timing {
    /// Of samples of one event each, at no cost of the clock: `start` as in the field, and the seconds spent.
    pub fn of_single_events(start: &str, spent_s: f64) -> Timing {
        let start = start.into();
        Timing { events_per_sample: 1, clock_share: 0.0, start, late_starts: 0, spent_s }
    }

    /// Returns the timing of `samples` samples and then of `later_samples` more, which were timed as `later` says.
    #[must_use]
    pub fn and(self, samples: usize, later: Timing, later_samples: usize) -> Timing {
        let (first, second) = (samples as f64, later_samples as f64);
        let of_clock = first * self.clock_share + second * later.clock_share;
        Timing {
            events_per_sample: self.events_per_sample.max(later.events_per_sample),
            clock_share: if first + second == 0.0 { 0.0 } else { of_clock / (first + second) },
            late_starts: self.late_starts + later.late_starts,
            spent_s: self.spent_s + later.spent_s,
            start: later.start,
        }
    }
}

impl StopReason {
    /// Returns whether the interval became as narrow as wanted.
    pub fn converged(self) -> bool {
        self == StopReason::Precision
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StopReason::Precision => "precision",
            StopReason::TimeLimit => "time-limit",
            StopReason::SampleLimit => "sample-limit",
        })
    }
}

impl std::fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParameterValue::Flag(true) => f.write_str("yes"),
            ParameterValue::Flag(false) => f.write_str("no"),
            ParameterValue::Number(number) => number.fmt(f),
            ParameterValue::Text(text) => text.fmt(f),
        }
    }
}

impl From<bool> for ParameterValue {
    fn from(value: bool) -> Self {
        ParameterValue::Flag(value)
    }
}

impl From<u64> for ParameterValue {
    fn from(value: u64) -> Self {
        ParameterValue::Number(value)
    }
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> Self {
        ParameterValue::Text(value.into())
    }
}
