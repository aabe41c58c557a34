//! The search for the minimum sustainable period, for every real-time benchmark on every fabric.
//!
//! # For a benchmark
//! A periodic benchmark is a function that executes one [`Trial`]:
//!
//! ```text
//! fn keep_up(rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines) -> Result<()> {
//!     for instance in 0..trial.instances {
//!         deadlines.wait_for(rank, instance);              // returns at once if this rank is behind
//!         ...                                              // this rank's part of the instance
//!         deadlines.ended(instance, stage, rank.now());    // stage: number of the part; 0 if there is one
//!     }
//!     Ok(())
//! }
//! ```
//!
//! All ranks call it with the same trial. It must leave no message in progress and must allocate nothing: its buffers
//! are created before. [`find`] then follows the settings ([`RealTime`](crate::RealTime)): it searches for the shortest
//! period, or tests a given one, and returns a [`SearchOutcome`](outcome::SearchOutcome). [`report()`] makes the
//! measurements `period`, `response` and `miss-rate` from it.
//!
//! The benchmark's cases pass through [`variants()`], which adds a case without each part of OS isolation that must be
//! left out in turn, and one for each repeated search. [`find`] switches OS isolation on and off, and records which
//! parts were granted.
//!
//! # Definitions
//! * An instance is *missed* if any deadline of any rank in it is: [`Deadlines::ended`] after [`Trial::deadline`].
//!   Deadlines are absolute, so an instance that ends late does not move the next one.
//! * A period is *sustained* if the upper bound of the miss rate of all its trials, at the requested confidence, is at
//!   most the requested miss rate. It is *refused* if the lower bound is more. With too few instances to prove that
//!   rate, a period without a miss is sustained and marked as not proven. Misses that come in bursts, as after a pause
//!   of the system, count as fewer ([`analysis::statistics::miss_rate`]).
//! * The answer is an interval from the longest period that is refused to the shortest that is proven.
//!
//! # The search
//! With a time limit it has four parts: it *records* instances back to back, *replays* them at all periods
//! ([`analysis::replay`]), *forecasts* which period a trial will probably refuse and which one a confirmation will probably
//! prove ([`forecast`]), and *confirms* these: the lower end by trials that refuse it, the upper end by new instances that
//! alone prove the miss rate. Without a time limit, and where the same work always takes the same time, the lower end and
//! the candidate for the upper one are found by halving ([`bisection`]).
//!
//! # How a trial runs
//! A trial consists of segments that grow eightfold, each of which begins at an agreed instant. It ends early if the
//! misses so far refuse the period, unless the time is so short that one pause may have caused them all. A period that
//! is a thousand times too short therefore costs only a fraction of a trial. Rank 0 decides every segment and sends it
//! by broadcast. The time may be virtual or real.

mod acceptance;
mod back_to_back;
mod bisection;
mod command;
mod constants;
mod deadlines;
mod first_guess;
mod forecast;
mod instances;
mod notes;
mod os_isolation;
mod outcome;
mod report;
mod schedule;
mod search;
mod segment;
#[cfg(test)]
mod tests;
mod trial;
mod trials;
mod variants;

/// Number of instances of a trial for each one that may wait.
pub(crate) const PERIODS_PER_WAITING: u64 = constants::CONSTANTS.instances_per_waiting;

pub(crate) use back_to_back::{back_to_back, each_on_steady, rounds_last_s};
pub(crate) use deadlines::{Deadlines, UsualTime};
pub use os_isolation::WITHOUT;
pub(crate) use os_isolation::{FIFO, PRIORITY, RATE_MONOTONIC, prioritise, refusal};
pub(crate) use outcome::{SearchBasis, SearchOutcome};
pub(crate) use report::{derived, rate, report};
pub(crate) use search::{find, find_from, keep_up, lasts_s};
pub(crate) use trial::Trial;
pub(crate) use variants::variants;
