//! The search for the minimum sustainable period, for every real-time benchmark on every fabric.
//!
//! # For a benchmark
//! A periodic benchmark is a function that keeps up one [`Trial`]:
//!
//! ```text
//! fn keep_up(rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines) -> Result<()> {
//!     for instance in 0..trial.instances {
//!         deadlines.wait_for(rank, instance);              // returns at once if this rank is behind
//!         ...                                              // this rank's part of the instance
//!         deadlines.ended(instance, stage, rank.now());    // stage: which part it was; 0 if there is one
//!     }
//!     Ok(())
//! }
//! ```
//!
//! All ranks call it alike with the same trial. It must leave no message under way and must allocate nothing (its
//! buffers live outside, made before). [`find`] then does what the settings ask ([`RealTime`](crate::RealTime)): it searches for the
//! shortest period, or keeps up the one that is asked for, and returns a [`SearchOutcome`] with which [`report`] makes the
//! measurements `period`, `response` and `miss-rate`.
//!
//! Its cases go through [`variants`], which adds one for each part of the isolation that is to be left out, and for each search
//! of the same. [`find`] switches the isolation from the operating system on and off, and says in the record what was granted.
//!
//! # What counts
//! * An instance is *missed* when any deadline of any rank in it is: [`Deadlines::ended`] after [`Trial::deadline`].
//!   Deadlines are absolute, so an instance that ends late does not move the next one.
//! * A period is *sustained* when so few instances of all its trials are missed that the upper bound of the miss rate at
//!   the wanted confidence is no more than the wanted miss rate, and *refused* when the lower bound is more. Where there are
//!   too few instances to show that rate, it is sustained if none is missed, and is told as not proven. Misses that come in
//!   bursts, as a pause of the system makes them, count as fewer ([`analysis::statistics::miss_rate`]).
//! * The answer is an interval: every period at or below its lower end that was tried is refused, every one at or above its
//!   upper end sustained, and each end was tried several times ([`decision`]). What is neither lies inside it.
//! * A search may have a limit of time; then the interval is what is known when it is over.
//! * What was found is *confirmed*: kept up for a multiple of a trial's length, of which the new instances alone must show the
//!   wanted miss rate. A period that does not hold is sustained no more, and the search goes on upwards ([`schedule`]).
//!
//! # How a trial runs
//! In segments that grow eightfold: each begins at an agreed instant, and when the misses so far already refuse the period,
//! and not in so short a time that one pause may have caused them all, the trial ends. So a period that is a thousand times
//! too short costs a fraction of a trial. Rank 0 decides every segment and spreads it by broadcast; virtual time serves as well
//! as real time.

mod acceptance;
mod back_to_back;
mod command;
mod deadlines;
mod decision;
mod first_guess;
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

pub(crate) use back_to_back::{back_to_back, rounds_last_s};
pub(crate) use deadlines::{Deadlines, UsualTime};
pub(crate) use os_isolation::{PRIORITY, RATE_MONOTONIC, prioritise, refusal};
pub(crate) use outcome::{Known, PERIODS_PER_WAITING};
pub(crate) use report::{derived, rate, report};
pub(crate) use search::{find, find_knowing, keep_up, lasts_s};
pub(crate) use trial::Trial;
pub(crate) use variants::variants;
