//! What the machine itself allows: every other number is shown as a share of one of these.

pub(super) mod clock_cost;
pub(super) mod copy;
pub(super) mod hand_over;
pub(super) mod process_switch;
