//! The ratio of a number to the limit of its machine.
//!
//! A run measures its machine's own limits: the time of a hand-over of one cache line between cores, the time of a
//! switch of a core between processes, the copy rate of one core, and its rate of floating-point operations. A
//! benchmark's declaration states by a [`BoundRule`] which of them bounds it. For one measurement this results in a
//! [`Bound`], and the ratio of a number to its bound is a [`Share`].
//!
//! A message cannot reach another core before a line has been handed over. Its bytes cannot be in another buffer before
//! a core has copied them. Ranks that share a core cannot all run without a switch. The floor of such a benchmark's
//! time is therefore
//!
//! > hand-overs x (one hand-over) + switches x (one switch) + copies x (size beyond the first line) / (copy rate of
//! > the part that one core copies)
//!
//! with the operations that must happen one after the other ([`CriticalPath`]), and the share of the limit is floor /
//! measured. The fastest pair of cores counts, because a record does not contain the processors of its ranks. Switch
//! and copy are references rather than strict limits. A share may exceed 1 if no rank copies, if parts of a message fit
//! into a cache that copies of that size just miss, or if the kernel switches without a request to wake a rank.
//!
//! A rate of floating-point operations is compared with the core's peak, a rate of bytes moved in memory with a plain
//! copy. The number of nominal operations is higher than that of a fast transform, so its share of the peak may be too
//! high.

mod bound;
mod core_to_core;
mod critical_path;
mod machine;
mod precision;
mod share;
#[cfg(test)]
mod tests;

pub use bound::{Bound, BoundRule, BoundRules};
pub use core_to_core::{HandOver, Repeat};
pub use critical_path::{CriticalPath, Traffic};
pub use machine::{CLOCK_COST, COPY, Copy, GROUP, HAND_OVER, Limits, PEAK, PROCESS_SWITCH};
pub use precision::{PRECISION, Precision};
pub use share::{Share, Shares};
