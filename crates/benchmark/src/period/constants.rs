//! Table of the numbers that a search for a period rests on, each with where it comes from. *Models*: the share of proven
//! periods and the widths of docs/results.md, "How often an interval of periods is false".

use contract::TimeSpan;

/// The numbers.
pub(super) struct Constants {
    /// Shortest period that is tried. The clock's step is another lower limit. Chosen.
    pub(super) shortest: TimeSpan,
    /// Longest period that is tried, as a multiple of the first guess, and at least. A delay of a rank is as long for a short
    /// job. Chosen.
    pub(super) longest_guesses: f64,
    pub(super) longest_at_least: TimeSpan,
    /// First step away from a guess, and longest one, as factors. Each further step is the square of the one before.
    /// Chosen.
    pub(super) step_first: f64,
    pub(super) step_max: f64,
    /// Time of a search without a limit, in trials, most of which are cut short. Chosen, for an estimate.
    pub(super) unlimited_trials: f64,
    /// Share of a search's time for a period that is refused. The rest proves another one (models).
    pub(super) finding: f64,
    /// Share of the remaining time for which a trial is planned that probably refuses its period: one that does not leaves
    /// time for a shorter one (models).
    pub(super) refuting: f64,
    /// Share of the remaining time in which the period to confirm will probably be proven: one that is not leaves time for a
    /// longer one (models).
    pub(super) proving: f64,
    /// Share of the finding below which no further trial begins. Chosen.
    pub(super) finding_left: f64,
    /// Number of instances of a confirmation whose length is open, over that which prove the rate without a miss, so that
    /// one miss is nearly forgiven.
    pub(super) forgiving: f64,
    /// Instances of the first segment of a trial, and factor from one to all before it. A period that is far too short
    /// costs a few of them. Chosen.
    pub(super) segment_first: u64,
    pub(super) segment_growth: u64,
    /// Most instances of a segment: 24 MiB of times on each rank.
    pub(super) segment_max: u64,
    /// Most instances of a trial, whose times rank 0 keeps in less than a gigabyte.
    pub(super) trial_max: u64,
    /// Time by which the first segment of a trial may exceed that of a search, in seconds. Chosen.
    pub(super) overtime_s: f64,
    /// Share of a trial before which a period is not refused, because misses in a shorter time may have had one cause.
    /// Chosen.
    pub(super) refused_from: f64,
    /// Factor by which a trial is extended that shows too little. Chosen.
    pub(super) extension: u64,
    /// Time after which a trial is reported as far as it is made, in seconds, and the least instances until then: a chain
    /// that falls behind must have time to show it. Chosen.
    pub(super) part_s: f64,
    pub(super) part_min: u64,
    /// Instances of a trial for each one that may wait: a job with an eighth of its time to spare completes all waiting
    /// ones within half of a trial.
    pub(super) instances_per_waiting: u64,
    /// Share of the time for finding that the recording takes, and the least of that time: in less, the agreements on a
    /// beginning take more than the recording. Chosen.
    pub(super) recording: f64,
    pub(super) finding_min_s: f64,
    /// Least and most instances of a recording, and number of single ones before it. Chosen.
    pub(super) recorded_min: u64,
    pub(super) recorded_max: u64,
    pub(super) alone: usize,
    /// Share of the permitted rate that the period that is called predicted misses at most. Chosen.
    pub(super) predicted: f64,
    /// The longest of the periods whose trials show something of a period, as a multiple of it: pauses that are shorter
    /// than the time between two instances of a trial do not appear in it. Chosen.
    pub(super) trials_until: f64,
    /// Kinds of pauses that are explained. Chosen.
    pub(super) explained: usize,
    /// Late instances and pauses that a rank notes of a segment, and pauses that a record has. Chosen.
    pub(super) late_noted: usize,
    pub(super) pauses_noted: usize,
    pub(super) pauses_kept: usize,
    /// Shortest pause that is noted: timers are no more exact, and caches make computing differ by as much.
    pub(super) pause_min: TimeSpan,
}

/// The table.
pub(super) const CONSTANTS: Constants = Constants {
    shortest: TimeSpan::from_ns(10),
    longest_guesses: 256.0,
    longest_at_least: TimeSpan::from_us(100_000),
    step_first: 1.15,
    step_max: 4.0,
    unlimited_trials: 5.0,
    finding: 0.5,
    refuting: 0.35,
    proving: 0.5,
    finding_left: 0.02,
    forgiving: 1.5,
    segment_first: 16,
    segment_growth: 8,
    segment_max: 1 << 20,
    trial_max: 1 << 25,
    overtime_s: 0.5,
    refused_from: 0.25,
    extension: 4,
    part_s: 10.0,
    part_min: 256,
    instances_per_waiting: 16,
    recording: 0.12,
    finding_min_s: 0.1,
    recorded_min: 96,
    recorded_max: 1 << 18,
    alone: 9,
    predicted: 0.7,
    trials_until: 1.25,
    explained: 5,
    late_noted: 8,
    pauses_noted: 32,
    pauses_kept: 1024,
    pause_min: TimeSpan::from_us(50),
};
