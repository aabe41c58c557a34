//! Barrier.

use crate::{Membership, Message, Part, Schedule};

/// Builds a dissemination: in round k each member signals the member 2^k after it, so after log2 P rounds, rounded up,
/// each has received a signal that depends on all members (Hensgen, Finkel and Manber 1988).
pub fn dissemination(group: Membership) -> Schedule {
    let mut schedule = Schedule::default();
    let mut distance = 1;
    while distance < group.size {
        schedule.exchange(
            Message::new(group.after(distance), Part::EMPTY),
            Message::new(group.before(distance), Part::EMPTY),
        );
        distance *= 2;
    }
    schedule
}
