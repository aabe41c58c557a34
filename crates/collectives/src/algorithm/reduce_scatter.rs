//! Reduce-scatter: the inputs of all members, combined, are given out: block r to member r.

use super::Own;
use super::allreduce;
use crate::membership::Order;
use crate::{Area, Blocks, Membership, Message, Part, Schedule};

/// By recursive doubling of everything, of which each member keeps its block: log2 P messages.
pub fn recursive_doubling(group: Membership, blocks: &Blocks, order: Order, own: Own) -> Schedule {
    let total = blocks.total();
    let mut schedule = Schedule::default();
    let vector = schedule.room(total);
    let mut schedule = allreduce::double(schedule, group, own.part(total), vector, order);
    let block = blocks.one(group.me);
    schedule.copy(vector.within(block.clone()), Part::of(Area::Output, 0..block.len()));
    schedule
}

/// By pairwise exchange: in round i each member gets the operand of the one i before it, for its own block. Each unit
/// passes a member once. Operands stay in the order of the ranks: this member collects those of the lower ranks, from the
/// nearest down, and those of the higher ranks, from the highest down.
pub fn pairwise(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let block = blocks.one(group.me);
    let length = block.len();
    let input = own.part(blocks.total());
    let lower = schedule.room(length);
    let (operand, higher) = (schedule.room(length), schedule.room(length));
    schedule.copy(input.within(block), lower);
    for distance in 1..group.size {
        let (to, from) = (group.after(distance), group.before(distance));
        // The first of the members after this one comes last of all, so the sum of these begins at the highest rank.
        let begins = from + 1 == group.size && group.me + 1 < group.size;
        let room = if begins { higher } else { operand };
        schedule.exchange(Message::new(to, input.within(blocks.one(to))), Message::new(from, room));
        if !begins {
            schedule.combine(if from < group.me { lower } else { higher }, operand, false);
        }
    }
    if group.me + 1 < group.size {
        schedule.combine(lower, higher, true);
    }
    schedule.copy(lower, Part::of(Area::Output, 0..length));
    schedule
}
