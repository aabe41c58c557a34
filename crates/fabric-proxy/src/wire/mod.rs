//! The connection of a process with its rank on the simulated machine: shared memory, turns, and messages.

pub(crate) mod collective;
pub(crate) mod job;
pub(crate) mod line;
pub(crate) mod message;
pub(crate) mod reply;
pub(crate) mod request;

use contract::TimeSpan;

/// Returns the virtual time for `ns` of the processor's time.
pub(crate) fn scaled(ns: u64, factor: f64) -> TimeSpan {
    TimeSpan::from_ps((ns as f64 * 1000.0 * factor) as u64)
}
