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
//!         deadlines.ended(instance, stage, rank.now());    // stage: which part it was; 0 if there is one
//!     }
//!     Ok(())
//! }
//! ```
//!
//! All ranks call it with the same trial. It must leave no message under way and must allocate nothing: its buffers are
//! made before. [`find`] then does what the settings ask for ([`RealTime`](crate::RealTime)): it searches for the
//! shortest period, or tests a given one, and returns a [`SearchOutcome`](outcome::SearchOutcome). [`report`] makes the
//! measurements `period`, `response` and `miss-rate` from it.
//!
//! The benchmark's cases go through [`variants`], which adds a case for each part of OS isolation that is to be left
//! out, and for each repeated search. [`find`] switches OS isolation on and off, and records what was granted.
//!
//! # What counts
//! * An instance is *missed* if any deadline of any rank in it is: [`Deadlines::ended`] after [`Trial::deadline`].
//!   Deadlines are absolute, so an instance that ends late does not move the next one.
//! * A period is *sustained* if the upper bound of the miss rate of all its trials, at the wanted confidence, is no more
//!   than the wanted miss rate. It is *refused* if the lower bound is more. With too few instances to prove that rate,
//!   a period without a miss is sustained and marked as not proven. Misses that come in bursts, as a pause of the
//!   system causes them, count as fewer ([`analysis::statistics::miss_rate`]).
//! * The answer is an interval: every period at or below its lower end that was tried is refused, every one at or above
//!   its upper end is sustained, and each end was tried several times ([`decision`]). Unclear periods lie inside it.
//! * Where a search has a time limit it predicts first: instances are recorded back to back, and from these follows what
//!   would be missed at any period ([`analysis::replay`]). The search tries where that crosses the wanted rate
//!   ([`forecast`]).
//! * A search may have a time limit. The interval is then what is known when the time is over.
//! * The period that was found is *confirmed*: it is tested for a multiple of a trial's length, and these instances
//!   alone must prove the wanted miss rate. If they do not, the period is no longer sustained, and the search continues
//!   upwards ([`schedule`]).
//!
//! # How a trial runs
//! A trial consists of segments that grow eightfold, each of which begins at an agreed instant. It ends early if the
//! misses so far refuse the period, unless the time is so short that one pause may have caused them all. So a period
//! that is a thousand times too short costs a fraction of a trial. Rank 0 decides every segment and spreads it by
//! broadcast. Virtual time serves as well as real time.

mod acceptance;
mod back_to_back;
mod command;
mod deadlines;
mod decision;
mod first_guess;
mod forecast;
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

pub(crate) use back_to_back::{back_to_back, once_back_to_back, rounds_last_s};
pub(crate) use deadlines::{Deadlines, UsualTime};
pub(crate) use forecast::predicting_s;
pub(crate) use os_isolation::{FIFO, PRIORITY, RATE_MONOTONIC, prioritise, refusal};
pub(crate) use outcome::{Known, PERIODS_PER_WAITING};
pub(crate) use report::{derived, rate, report};
pub(crate) use search::{find, find_knowing, keep_up, lasts_s};
pub(crate) use trial::Trial;
pub(crate) use variants::variants;
