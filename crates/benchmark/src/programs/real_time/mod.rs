//! Periodic benchmarks: which period can the machine sustain?

pub(super) mod clock;
pub(super) mod corner_turn;
pub(super) mod hartstone;
mod pause_causes;
pub(super) mod pipeline;
pub(super) mod pmp;
pub(super) mod wake_up;
