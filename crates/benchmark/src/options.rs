//! Options of a run that only some benchmarks use.

/// An option of a run that only some benchmarks use. Numbers of ranks, sizes, algorithms and values of parameters are not
/// among them: the cases of a benchmark show whether it takes those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOption {
    /// The wanted width of intervals.
    Precision,
    /// The time limit of a measurement.
    TimeLimit,
    /// Repetitions of a measurement that are distributed over the run.
    Turns,
    /// The duration of a trial or an observation.
    Duration,
    /// Isolation from the operating system.
    OsIsolation,
    /// Repetition without each part of that isolation.
    Ablate,
    /// The period that is tested.
    Period,
    /// What each instance must meet.
    Require,
    /// The first period of a search.
    Guess,
    /// The number of instances of a trial.
    Instances,
    /// The permitted share of missed deadlines.
    MissRate,
    /// The wanted width of the interval of periods.
    Width,
    /// The number of trials at each end of that interval.
    /// The time limit of a search.
    SearchLimit,
    /// The length of the confirmation.
    Confirm,
    /// The number of searches.
    Searches,
    /// The explanation of pauses.
    Explain,
    /// The operations of a task.
    Load,
    /// The shortest pause that counts.
    Threshold,
    /// The longest permitted pause.
    Limit,
    /// The kernel's tracer of pauses.
    Osnoise,
    /// The time by which sleeps may end later.
    TimerSlack,
    /// Rules of spatial locality.
    Rule,
    /// Probabilities of hits.
    Hits,
    /// The number of messages.
    Messages,
    /// The time between messages.
    Gap,
    /// The messages after which destinations are forgotten.
    Flush,
}

use RunOption::*;

/// Options of the timed loop.
pub(crate) const TIMED: &[RunOption] = &[Precision, TimeLimit];

/// Options of trials and searches of periods.
pub(crate) const PERIODS: &[RunOption] = &[
    Duration,
    OsIsolation,
    Ablate,
    Period,
    Require,
    Guess,
    Instances,
    MissRate,
    Width,
    SearchLimit,
    Confirm,
    Searches,
    Explain,
];

/// Options of the model of a program's locality.
pub(crate) const LOCALITY: &[RunOption] = &[Rule, Hits, Messages, Gap, Flush];

impl RunOption {
    /// Returns its name on the command line, without dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Precision => "precision",
            TimeLimit => "time-limit",
            Turns => "turns",
            Duration => "duration",
            OsIsolation => "hygiene",
            Ablate => "ablate",
            Period => "period",
            Require => "require",
            Guess => "guess",
            Instances => "instances",
            MissRate => "miss-rate",
            Width => "width",
            SearchLimit => "search-limit",
            Confirm => "confirm",
            Searches => "searches",
            Explain => "explain",
            Load => "load",
            Threshold => "threshold",
            Limit => "limit",
            Osnoise => "osnoise",
            TimerSlack => "timer-slack",
            Rule => "rule",
            Hits => "hits",
            Messages => "messages",
            Gap => "gap",
            Flush => "flush",
        }
    }
}
