//! Table of the numbers that verdicts, histories and intervals rest on, each with where it comes from. `make ablation`
//! repeats what those that say so are worth.

/// The numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    /// Least factor between the median hand-overs of a cache line in two performance states. Within a state a line varies
    /// by less (docs/measurements.md, "Two runs of one build, by states").
    pub(crate) states_apart: f64,
    /// Least share of the hand-overs that make a state. Fewer are disturbances. Chosen.
    pub(crate) state_share_min: f64,
    /// Share of the timed operations that take the time of a free processor or less. Chosen, so that one reading of the
    /// clock in a hundred may be wrong.
    pub(crate) free_share: f64,
    /// Greatest slowdown of an operation, as a logarithm. A neighbour that computes more slows operations more, but
    /// messages hardly more; and a pause is no slowdown (docs/measurements.md, "Two runs of one build, at one speed").
    pub(crate) slowdown_max: f64,
    /// Standard deviation of the factor between the slowdown of a number and that of operations, around 1. Within this,
    /// numbers of messages, collectives and computing differ (the same). A fixed factor of 1 leaves more
    /// numbers of a virtual machine undecided (`make ablation`).
    pub(crate) slopes_differ_by: f64,
    /// Least number of numbers of which the median says something of the runs. Chosen.
    pub(crate) shared_numbers_min: usize,
    /// Half of all unchanged numbers differ by less than this number of standard errors: the upper quartile of the normal
    /// distribution.
    pub(crate) half_within_errors: f64,
    /// Largest ratio between minutes. If everything is slower by more, the state of the machine is not the cause
    /// (docs/measurements.md, "Two runs of one build in a restless hour").
    pub(crate) minutes_differ_by: f64,
    /// Most launches to advise. If more are needed, the change is about as large as the threshold. Chosen.
    pub(crate) launches_advised_max: usize,
    /// Most pairs of launches for which the distribution of the rank statistic is counted. The time of counting grows with
    /// the square; beyond, the statistic is taken for normal, which a test compares.
    pub(crate) pairs_counted_max: usize,
    /// The same for paired launches, whose time grows with the cube.
    pub(crate) signed_counted_max: usize,
    /// Largest relative difference between the products of two numbers in the launches if one follows from the other.
    /// Medians between two samples are not quite inverse to each other. Chosen.
    pub(crate) products_differ_by: f64,
    /// Share of the runs of a level that may be outliers and are not counted. Chosen.
    pub(crate) outlying_runs: f64,
    /// Factor beyond which a machine's state is not taken for the cause (docs/decisions/0068).
    pub(crate) beyond_machines: f64,
}

/// The table.
pub(crate) const CONSTANTS: Constants = Constants {
    states_apart: 1.5,
    state_share_min: 0.01,
    free_share: 0.01,
    slowdown_max: 0.25,
    slopes_differ_by: 0.5,
    shared_numbers_min: 6,
    half_within_errors: 0.6745,
    minutes_differ_by: 2.0,
    launches_advised_max: 1000,
    pairs_counted_max: 1000,
    signed_counted_max: 140,
    products_differ_by: 0.01,
    outlying_runs: 0.1,
    beyond_machines: 20.0,
};

/// The numbers of the replay of a recording.
pub(crate) struct Replay {
    /// Most instances of one replay: more take time and do not change the result.
    pub(crate) instances_max: usize,
    /// Moments of the recording at which trials begin, whose first instances show the usual response. Chosen.
    pub(crate) trials: usize,
    /// First period of a curve, as a share of the work of an instance, factor to each further one, and most of them. Chosen.
    pub(crate) curve_from: f64,
    pub(crate) curve_step: f64,
    pub(crate) curve_points: usize,
    /// Permitted increase of the least response from the first to the second half of a trial, as a share of the period
    /// (docs/decisions/0017).
    pub(crate) later_share: f64,
    /// Misses that a curve's point must leave room for, or it shows little: without a miss n instances prove about 3/n.
    pub(crate) misses_needed: f64,
    /// Least instances of a recording, most of them in a stretch, and largest deviation of those in one from the usual time,
    /// as a share. Chosen.
    pub(crate) recorded_min: usize,
    pub(crate) joined_max: f64,
    pub(crate) joined_differ_by: f64,
    /// Least lost time in microseconds: caches and clocks cause as much.
    pub(crate) lost_min_us: f64,
    /// Instances of which the median of the means is the usual time, because a chain may deliver two at once. Chosen.
    pub(crate) usual_window: usize,
    /// Part of the instances of a trial that may have lost time: if more did, the work takes longer. Chosen.
    pub(crate) lost_one_in: usize,
    /// Lost times, the longest, that are sorted into kinds, and largest difference of the periods of one kind. Chosen.
    pub(crate) sorted_max: usize,
    pub(crate) periods_differ_by: f64,
}

pub(crate) const REPLAY: Replay = Replay {
    instances_max: 1 << 20,
    trials: 24,
    curve_from: 0.8,
    curve_step: 1.09,
    curve_points: 96,
    later_share: 0.25,
    misses_needed: 3.0,
    recorded_min: 64,
    joined_max: 32.0,
    joined_differ_by: 0.1,
    lost_min_us: 2.0,
    usual_window: 8,
    lost_one_in: 8,
    sorted_max: 4096,
    periods_differ_by: 0.02,
};

/// The numbers by which pauses are sorted into kinds.
pub(crate) struct Kinds {
    /// Least pauses of a kind. Pauses come in bursts, and a few bursts among many are at equal distances by chance.
    pub(crate) members_min: usize,
    /// Most kinds, and most candidates for a period. Further ones would be noise. Chosen.
    pub(crate) most: usize,
    /// Factor within which lengths of one kind are from their median, either way. Chosen.
    pub(crate) lengths_differ_by: f64,
    /// Permitted distance of a pause from its moment, as a share of the period. Intervals that differ by less are one. Chosen.
    pub(crate) tolerance: f64,
    /// Share of moments that must have a pause. Chosen.
    pub(crate) filled: f64,
    /// Largest probability with which random moments may fill an accepted period. It is small because many are tried.
    pub(crate) chance_max: f64,
    /// Moments over which intervals are examined, because other pauses may be between two of a kind. Chosen.
    pub(crate) reach: usize,
    /// Share of the time beyond the usual from which pauses explain an instance wholly: the rest is caches and polls. Chosen.
    pub(crate) wholly: f64,
}

pub(crate) const KINDS: Kinds = Kinds {
    members_min: 8,
    most: 6,
    lengths_differ_by: 1.6,
    tolerance: 0.03,
    filled: 0.6,
    chance_max: 1e-6,
    reach: 4,
    wholly: 0.9,
};
