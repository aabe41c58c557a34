//! Periodic benchmarks, which measure the period that a machine sustains.

pub(super) mod clock;
pub(super) mod corner_turn;
pub(super) mod hartstone;
mod pause_causes;
pub(super) mod pipeline;
pub(super) mod pmp;
pub(super) mod wake_up;
