//! The connection of a process with its rank on the simulated machine: shared memory, turns, and messages.

pub mod collective;
pub mod job;
pub mod line;
pub mod message;
mod process_clock;
pub mod reply;
pub mod request;

use contract::TimeSpan;

/// Returns the virtual time for `ns` of the processor's time.
pub fn scaled(ns: u64, factor: f64) -> TimeSpan {
    TimeSpan::from_ps((ns as f64 * 1000.0 * factor) as u64)
}
