//! Every collective as ordinary code over point-to-point calls.
//!
//! The algorithms use blocking calls only, work at any rank count, root and length, and take a number of steps
//! logarithmic in the rank count wherever the result allows it. Which algorithm runs depends on the rank count and on
//! lengths that all ranks share, never on measured times, so a run repeats exactly.
//!
//! | collective | short | long |
//! |---|---|---|
//! | barrier | dissemination | |
//! | broadcast | binomial tree | binomial scatter, then allgather |
//! | scatter, gather | binomial tree | the same |
//! | allgather | dissemination (Bruck) | ring |
//! | reduce | binomial tree | recursive halving, then binomial gather |
//! | allreduce | recursive doubling | recursive halving, then recursive doubling (Rabenseifner) |
//! | all-to-all | dissemination (Bruck) from 8 ranks | pairwise exchange |
//!
//! # Mistakes that are found
//! Lengths that contradict each other within a call are refused before any message is sent. Between the ranks, each
//! message carries in its tag which collective, algorithm, root and reduction its sender is in, and a collective
//! receives its neighbour's next message whatever it is: the first rank that receives from one that does something
//! else, or does it with another length, returns [`Error::MismatchedCollective`] or [`Error::UnequalCounts`].
//!
//! The two algorithms of a collective begin with the same partners, so ranks that disagree on the *length* always
//! meet; one that only sends (a leaf, or a root that nobody else takes for it) may have finished by then, and the
//! mistake shows in the next collective in which the two meet. Ranks that disagree on the collective or on the root
//! usually meet too, but ranks that each wait for another that sends them nothing (two that both think themselves the
//! root of a gather) cannot learn of it from messages. Such a circle is ended by a fabric that finds deadlocks, or that
//! compares calls in memory that all ranks see; elsewhere by the user.
//!
//! [`Error::MismatchedCollective`]: crate::Error::MismatchedCollective
//! [`Error::UnequalCounts`]: crate::Error::UnequalCounts

mod all_to_all;
mod allgather;
mod allreduce;
mod barrier;
mod blocks;
mod broadcast;
mod call;
mod combine;
mod gather;
mod reduce;
mod scatter;

pub use all_to_all::all_to_all;
pub use allgather::{allgather, allgather_in_place};
pub use allreduce::allreduce;
pub use barrier::barrier;
pub use broadcast::broadcast;
pub use gather::gather;
pub use reduce::reduce;
pub use scatter::scatter;

pub(crate) use call::describe;

/// From this length on, moving each byte fewer times is worth more messages: the product of latency and bandwidth of a
/// machine with 1 to 2 µs and 10 GB/s. Nothing depends on it but speed.
const LONG_BYTES: usize = 16 * 1024;

/// The rank `distance` after `rank`, around the ring of `size` ranks.
fn after(rank: usize, distance: usize, size: usize) -> usize {
    (rank + distance) % size
}

/// The rank `distance` before `rank`, around the ring of `size` ranks; `distance` is at most `size`.
fn before(rank: usize, distance: usize, size: usize) -> usize {
    (rank + size - distance) % size
}

#[cfg(test)]
mod tests;
