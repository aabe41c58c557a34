//! How close a number comes to the limit of the machine.
//!
//! A run measures its machine's own limits: what it takes to hand one cache line from a core to another, to hand a core
//! from a process to another, how fast one core copies, and how many floating-point operations it can do. A benchmark's
//! declaration states by a [`BoundRule`] which of them bounds it; for one measurement this results in a [`Bound`], and
//! a number against its bound is a [`Share`].
//!
//! A message cannot be in another core's hands before a line has been handed over, nor can its bytes be in another
//! buffer before a core has copied them, nor can ranks that share a core all run without a switch. The floor of such a
//! benchmark's time is therefore
//!
//! > hand-overs x (one hand-over) + switches x (one switch) + copies x (size beyond the first line) / (copy rate of
//! > the part that one core copies)
//!
//! with what must at least happen one after the other ([`CriticalPath`]), and the share of the limit is floor /
//! measured. The fastest pair of cores counts, as a record does not say where its ranks were. Switch and copy are
//! references rather than strict limits: if no rank copies, if parts of a message fit into a cache that copies of that
//! size just miss, or if the kernel switches without a request to wake a rank, a share may exceed 1.
//!
//! A rate of floating-point operations is compared with the core's peak, a rate of bytes moved in memory with a plain
//! copy. Nominal operations are more than a fast transform does, so a share of the peak may flatter it.

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
