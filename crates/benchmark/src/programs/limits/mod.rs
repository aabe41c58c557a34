//! The limits of the machine: every other number is shown as a share of one of these.

pub(in crate::programs) mod clock_cost;
pub(in crate::programs) mod copy;
pub(in crate::programs) mod core_to_core;
pub(in crate::programs) mod process_switch;
