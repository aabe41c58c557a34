//! Scan: the combined inputs of the members up to each member become its output.

use super::Own;
use crate::{Area, Membership, Message, Part, Schedule};

/// Builds the scan of Hillis and Steele (1986): log2 P rounds, rounded up. In round k each member combines the partial
/// result of the member 2^k before it as the left operand. Operands stay in the order of the ranks.
pub fn inclusive(group: Membership, length: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let output = Part::of(Area::Output, 0..length);
    schedule.copy(own.part(length), output);
    double(&mut schedule, group, output, |_, _, _| {});
    schedule
}

/// Builds a scan without each member's own input. Member 0 has no output.
pub fn exclusive(group: Membership, length: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let output = Part::of(Area::Output, 0..length);
    let sum = schedule.room(length);
    schedule.copy(own.part(length), sum);
    double(&mut schedule, group, sum, |schedule, operand, is_first| match is_first {
        true => schedule.copy(operand, output),
        false => schedule.combine(output, operand, false),
    });
    schedule
}

/// Appends the rounds of a scan. Calls `with_operand` for each operand that arrives, with true if it is the first.
fn double(
    schedule: &mut Schedule,
    group: Membership,
    sum: Part,
    with_operand: impl Fn(&mut Schedule, Part, bool),
) {
    let operand = schedule.room(sum.length);
    let mut distance = 1;
    while distance < group.size {
        let lower = group.me.checked_sub(distance).map(|from| Message::new(from, operand));
        let higher =
            (group.me + distance < group.size).then(|| Message::new(group.me + distance, sum));
        schedule.messages(lower, higher);
        if lower.is_some() {
            with_operand(schedule, operand, distance == 1);
            schedule.combine(sum, operand, false);
        }
        distance *= 2;
    }
}
