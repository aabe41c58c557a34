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
//! * The answer is an interval: every tried period at or below its lower end is refused, every one at or above its
//!   upper end is sustained, and each end was tried several times ([`decision`]). Unclear periods are inside it.
//! * If a search has a time limit it predicts first: instances are recorded back to back, from which the misses at any
//!   period follow ([`analysis::replay`]). The search tries the period at which they cross the requested rate
//!   ([`forecast`]).
//! * A search may have a time limit. It then returns the interval known at that time.
//! * The period that was found is *confirmed*: it is tested for a multiple of a trial's length, and these instances
//!   alone must prove the requested miss rate. If they do not, the period is no longer sustained, and the search
//!   continues upwards ([`schedule`]).
//!
//! # How a trial runs
//! A trial consists of segments that grow eightfold, each of which begins at an agreed instant. It ends early if the
//! misses so far refuse the period, unless the time is so short that one pause may have caused them all. A period that
//! is a thousand times too short therefore costs only a fraction of a trial. Rank 0 decides every segment and sends it
//! by broadcast. The time may be virtual or real.

mod acceptance;
mod back_to_back;
mod command;
mod deadlines;
mod decision;
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

/// Returns whether a test leaves out this part of the search (`WITHOUT=part,part`).
fn without(part: &str) -> bool {
    static LEFT_OUT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let left_out = LEFT_OUT.get_or_init(|| match cfg!(test) {
        true => std::env::var("WITHOUT").unwrap_or_default(),
        false => String::new(),
    });
    left_out.split(',').any(|one| one == part)
}

pub(crate) use back_to_back::{back_to_back, each_on_steady, once_back_to_back, rounds_last_s};
pub(crate) use deadlines::{Deadlines, UsualTime};
pub(crate) use forecast::predicting_s;
pub use os_isolation::WITHOUT;
pub(crate) use os_isolation::{FIFO, PRIORITY, RATE_MONOTONIC, prioritise, refusal};
pub(crate) use outcome::{PERIODS_PER_WAITING, SearchBasis, SearchOutcome};
pub(crate) use report::{derived, rate, report};
pub(crate) use search::{find, find_from, keep_up, lasts_s};
pub(crate) use trial::Trial;
pub(crate) use variants::variants;
