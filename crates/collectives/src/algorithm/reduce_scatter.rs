//! Reduce-scatter: block r of the combined inputs of all members becomes the output of member r.

use std::ops::Range;

use super::Own;
use super::allreduce;
use super::combining::Combining;
use crate::membership::{Fold, Folded, Order};
use crate::{Area, Blocks, Membership, Message, Part, Schedule};

/// Builds recursive doubling of the whole length, of which each member keeps its block: log2 P messages.
pub fn recursive_doubling(group: Membership, blocks: &Blocks, order: Order, own: Own) -> Schedule {
    let total = blocks.total();
    let mut schedule = Schedule::default();
    let vector = schedule.room(total);
    let mut schedule = allreduce::double(schedule, group, own.part(total), vector, order);
    let block = blocks.one(group.me);
    schedule.copy(vector.within(block.clone()), Part::of(Area::Output, 0..block.len()));
    schedule
}

/// Builds recursive halving: partners at distances P/2, P/4 ... 1 exchange the halves of their common blocks, so that
/// each unit passes a member about once, in log2 P messages. Combines in another order than that of the ranks. Requires
/// a commutative operation.
///
/// Members beyond the largest power of two send their operands to a neighbour, which has the blocks of both until the
/// end.
pub fn recursive_halving(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let vector = schedule.room(blocks.total());
    // In the order of the ranks, the members behind consecutive numbers of the core are consecutive, as are their
    // blocks.
    let fold = Fold::new(group, 0, Order::Ranks);
    let first = |number| if number < fold.core { fold.member(number) } else { group.size };
    let units = |numbers: &Range<usize>| blocks.some(first(numbers.start)..first(numbers.end));
    let mut combining = Combining::new(schedule, fold, own.part(vector.length), vector);
    if let Folded::Takes { number, .. } = combining.gather_fold() {
        let mut common = 0..fold.core;
        while common.len() > 1 {
            let half = common.len() / 2;
            let (lower, upper) =
                (common.start..common.start + half, common.start + half..common.end);
            let (keep, away) =
                if lower.contains(&number) { (lower, upper) } else { (upper, lower) };
            combining.exchange_and_combine(number, number ^ half, units(&away), units(&keep));
            common = keep;
        }
    }
    let mut schedule = combining.schedule;
    let block = blocks.one(group.me);
    let output = Part::of(Area::Output, 0..block.len());
    match fold.own() {
        Folded::Gives(to) => schedule.receive(to, output),
        Folded::Takes { from, .. } => {
            if let Some(from) = from {
                schedule.send(from, vector.within(blocks.one(from)));
            }
            schedule.copy(vector.within(block), output);
        }
    }
    schedule
}

/// Builds a pairwise exchange: in round i each member receives the operand of the member i before it for its own block.
/// Each unit passes a member once. Operands stay in the order of the ranks: this member combines those of lower ranks
/// from the nearest down, and those of higher ranks from the highest down.
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
        // The first member after this one comes last, so the sum of the higher ranks begins at the highest rank.
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
