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
