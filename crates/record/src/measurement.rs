//! One measurement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Pauses, PeriodSearch};

/// The parameters that identify a measurement besides its size, such as `packet_bytes` or `acknowledgement`.
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

/// The better direction of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

/// The reason why sampling stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The interval of the median became as narrow as wanted.
    Precision,
    /// The time limit was reached first: the number did not converge.
    TimeLimit,
    /// The sample limit was reached first: the number did not converge.
    SampleLimit,
    /// The number is exact: the measured machine is simulated, and measures the same in each run.
    Exact,
}

/// The timing of the events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Number of events in each sample: 1 if single events are timed, more if the clock's own cost requires it.
    pub events_per_sample: u64,
    /// The clock's cost as a share of a sample's length.
    pub clock_share: f64,
    /// Synchronization of the ranks' starts: `none` (one rank times), `time` (an agreed instant) or `barrier`.
    pub start: String,
    /// Number of samples that were discarded and repeated because a rank was late at the agreed start.
    pub late_starts: u64,
    /// Seconds spent on this measurement, warm-up included.
    pub spent_s: f64,
}

/// Numbers of samples outside Tukey's fences. They are counted, never dropped.
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

/// Summary of the samples, in the measurement's unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The lower end of the median's nonparametric confidence interval.
    pub ci_low: f64,
    /// Upper end of the interval.
    pub ci_high: f64,
    /// Confidence of the interval (at least the requested one if there are enough samples, otherwise less).
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
    /// Creates a summary of a number and its interval that do not come from samples. `n` is the number of what they
    /// describe.
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

    /// Returns half the width of the median's interval as a share of the median, or 0 if the median is not positive.
    pub fn half_width(&self) -> f64 {
        if self.median > 0.0 { (self.ci_high - self.ci_low) / 2.0 / self.median } else { 0.0 }
    }
}

/// The use of a link of a simulated network during a measurement, including its warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    /// The link's name, such as `node 3 to 4`.
    pub link: String,
    /// Share of the time in which it carried packets, 0 to 1.
    pub share: f64,
    /// Number of packets that it carried.
    pub packets: u64,
    /// How many packets waited for it on average.
    #[serde(default)]
    pub queue_mean: f64,
    /// The most packets that waited for it at once.
    #[serde(default)]
    pub queue_max: u64,
}

/// One measurement: its subject, the summary, the reason why sampling stopped, and the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The benchmark's name.
    pub benchmark: String,
    /// The benchmark's group.
    pub group: String,
    /// The fabric it ran on.
    pub fabric: String,
    /// Launch of the ranks in which it was made, of those that the run made for this case, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub launch: u32,
    /// The number of ranks.
    pub ranks: usize,
    /// Message size in bytes; 0 if no message is sent.
    pub size_bytes: u64,
    /// Further parameters that distinguish it from other measurements.
    pub parameters: Parameters,
    /// The measured quantity: `time`, `rate` ...
    pub metric: String,
    /// The unit of `metric` and of every value here: `us`, `MB/s` ...
    pub unit: String,
    /// The better direction.
    pub better: Better,
    /// Summary of the samples.
    #[serde(flatten)]
    pub summary: Summary,
    /// Reason why sampling stopped.
    pub stop_reason: StopReason,
    /// Timing of the events.
    pub timing: Timing,
    /// The samples in the order in which they were taken. Empty for a metric that is computed from another one of the
    /// same measurement (a rate from a time).
    pub samples: Vec<f64>,
    /// Samples of the warm-up, kept separately.
    pub warm_up_samples: Vec<f64>,
    /// Search for or test of a period, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<PeriodSearch>,
    /// The busiest links of a simulated network, in the network's own order, with the first metric of a measurement.
    /// Empty on other fabrics, and in files from before this was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link_use: Vec<LinkUse>,
    /// Turns of the measurement in their order, if it was made in several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Repetition>,
    /// Pauses of a processor, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pauses: Option<Pauses>,
    /// Medians of the launches, if it combines several. Records in files never do.
    #[serde(skip)]
    pub launch_medians: Vec<f64>,
    /// Hand-over of a cache line before and after the measurement in each launch, in microseconds, in the order of
    /// [`launch_medians`](Self::launch_medians). Empty if it was not timed in each. Records in files have it in
    /// `turns`.
    #[serde(skip)]
    pub launch_lines_us: Vec<[f64; 2]>,
    /// Times of a simple operation during the measurement in each launch, in nanoseconds, in the same order. Empty if
    /// they were not measured in each.
    #[serde(skip)]
    pub launch_operations_ns: Vec<Vec<f64>>,
}

impl Measurement {
    /// Creates a measurement of a metric, whose other fields the caller completes: of the first launch of one rank,
    /// without samples, and with the requested precision.
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
            launch_lines_us: Vec::new(),
            launch_operations_ns: Vec::new(),
        }
    }
}

/// Returns whether a launch is the first, which records omit.
pub(super) fn is_first(launch: &u32) -> bool {
    *launch == 0
}

/// A part of a measurement, made separately some time after the previous part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Number of its samples; those of the repetitions follow each other.
    pub samples: u64,
    /// Cost of the clock as a share of the length of its samples.
    pub clock_share: f64,
    /// Time of the hand-over of a cache line from the first rank to the second just before and just after it, in
    /// microseconds, if they have processors of their own and share memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_us: Option<[f64; 2]>,
    /// Time of one of many simple operations that do not wait for each other, in nanoseconds, now and then during the
    /// measurement: all times of the first rank, then as many of each other one. It shows other guests on the ranks'
    /// cores. Empty if it was not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations_ns: Vec<f64>,
}

/// The identity of a measurement. Runs are compared, and resumed, key by key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The benchmark's name.
    pub benchmark: String,
    /// The number of ranks.
    pub ranks: usize,
    /// Further parameters that distinguish it.
    pub parameters: Parameters,
    /// The message size in bytes.
    pub size_bytes: u64,
}

impl Measurement {
    /// Returns the identity of this measurement apart from fabric and metric.
    pub fn key(&self) -> Key {
        Key {
            benchmark: self.benchmark.clone(),
            ranks: self.ranks,
            parameters: self.parameters.clone(),
            size_bytes: self.size_bytes,
        }
    }

    /// Returns whether this is a search that replaces an earlier number of its case: a resumed proof has a new verdict, and may
    /// have other metrics than before.
    pub fn replaces(&self, earlier: &Measurement) -> bool {
        self.search.is_some() && self.launch == earlier.launch && self.key() == earlier.key()
    }

    /// Returns whether the number is exact. Its interval has no width, unless it is that of a search.
    pub fn is_exact(&self) -> bool {
        self.stop_reason == StopReason::Exact
    }

    /// Marks the number as exact. The ends of a search's interval remain: they are periods that were tried.
    pub fn mark_exact(&mut self) {
        self.stop_reason = StopReason::Exact;
        self.summary.ci_confidence = 1.0;
        if self.search.is_none() {
            (self.summary.ci_low, self.summary.ci_high) =
                (self.summary.median, self.summary.median);
        }
    }

    /// Returns the medians of its launches; its own median where launches are not put together.
    pub fn launches(&self) -> &[f64] {
        match &self.launch_medians[..] {
            [] => std::slice::from_ref(&self.summary.median),
            launches => launches,
        }
    }
}

impl Timing {
    /// Returns the timing of samples of one event each without the cost of the clock, with the given `start` and
    /// duration in seconds.
    pub fn of_single_events(start: &str, spent_s: f64) -> Timing {
        let start = start.into();
        Timing { events_per_sample: 1, clock_share: 0.0, start, late_starts: 0, spent_s }
    }

    /// Returns the timing of `samples` samples followed by `later_samples` more with the timing `later`.
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
    /// Returns whether the number is exact, or its interval became as narrow as requested.
    pub fn converged(self) -> bool {
        matches!(self, StopReason::Precision | StopReason::Exact)
    }
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            StopReason::Precision => "precision",
            StopReason::TimeLimit => "time-limit",
            StopReason::SampleLimit => "sample-limit",
            StopReason::Exact => "exact",
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
