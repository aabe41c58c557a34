//! Allreduce: the combined inputs of all members become the output of every member, with the same bits at each.

use super::Own;
use super::combining::Combining;
use crate::membership::{Fold, Folded, Order};
use crate::{Area, Blocks, LocalStep, Membership, Message, Part, Round, Schedule};

/// Builds recursive doubling: both partners compute the same result from the same operands in the same order. Takes
/// log2 P messages of the whole length.
pub fn recursive_doubling(group: Membership, length: usize, order: Order, own: Own) -> Schedule {
    let output = Part::of(Area::Output, 0..length);
    double(Schedule::default(), group, own.part(length), output, order)
}

/// Appends recursive doubling that leaves the result in a given part.
pub(super) fn double(
    schedule: Schedule,
    group: Membership,
    input: Part,
    vector: Part,
    order: Order,
) -> Schedule {
    let mut combining = Combining::new(schedule, Fold::new(group, 0, order), input, vector);
    if let Folded::Takes { number, .. } = combining.gather_fold() {
        let all = 0..vector.length;
        for level in 0..combining.fold.core.ilog2() {
            combining.exchange_and_combine(number, number ^ (1 << level), all.clone(), all.clone());
        }
    }
    combining.spread_fold();
    combining.schedule
}

/// Builds recursive halving, which combines each part at one member, followed by recursive doubling to spread the parts
/// (Rabenseifner 2004): each unit passes a member about twice.
pub fn rabenseifner(group: Membership, length: usize, order: Order, own: Own) -> Schedule {
    let vector = Part::of(Area::Output, 0..length);
    let fold = Fold::new(group, 0, order);
    let mut combining = Combining::new(Schedule::default(), fold, own.part(length), vector);
    if let Folded::Takes { number, .. } = combining.gather_fold() {
        for step in combining.halve(number).into_iter().rev() {
            let other = combining.fold.member(step.partner);
            combining.schedule.exchange(
                Message::new(other, vector.within(step.keep)),
                Message::new(other, vector.within(step.away)),
            );
        }
    }
    combining.spread_fold();
    combining.schedule
}

/// Builds two passes around the ring: the first combines each block, the second distributes the combined blocks. Every
/// message is one of P blocks, so each unit passes a member twice. Requires a commutative operation.
pub fn ring(group: Membership, length: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let output = Part::of(Area::Output, 0..length);
    schedule.copy(own.part(length), output);
    let blocks = Blocks::split(group.size, length);
    let operand = schedule.room(blocks.longest());
    let (right, left) = (group.after(1), group.before(1));
    schedule.rounds(2 * (group.size - 1), move |round| {
        let combining = group.size - 1;
        let block =
            |distance: usize| output.within(blocks.one(group.before(distance % group.size)));
        let (send, receive) = match round < combining {
            true => {
                let receive = block(round + 1);
                (block(round), operand.within(0..receive.length))
            }
            // The block received last in the first half is complete: that of the member after this one.
            false => {
                let distance = round - combining;
                (block(group.size + distance - 1), block(group.size + distance))
            }
        };
        let mut made = Round::exchange(Message::new(right, send), Message::new(left, receive));
        if (1..=combining).contains(&round) {
            let into = block(round);
            let with = operand.within(0..into.length);
            if into.length > 0 {
                made.before.push(LocalStep::Combine { into, with, into_is_left: false });
            }
        }
        made
    });
    schedule
}
