//! Reduce: the combined inputs of all members become the root's output.

use super::Own;
use super::combining::Combining;
use crate::membership::{Fold, Folded, Order};
use crate::{Area, Membership, Message, Part, Schedule};

/// Builds a binomial tree.
pub fn binomial(group: Membership, root: usize, length: usize, order: Order, own: Own) -> Schedule {
    to_root(group, root, length, order, own, |combining, number| {
        for level in 0..combining.fold.core.ilog2() {
            let other = number ^ (1 << level);
            if other < number {
                let vector = combining.vector;
                combining.schedule.send(combining.fold.member(other), vector);
                return;
            }
            combining.receive_and_combine(combining.fold.member(other));
        }
    })
}

/// Builds a tree of any radix: a wider one has fewer levels, and members that combine more. If the order of the ranks
/// matters, the root must be member 0.
pub fn knomial(
    group: Membership,
    (root, radix): (usize, usize),
    length: usize,
    own: Own,
) -> Schedule {
    let mut schedule = Schedule::default();
    let tree = group.place_in_tree(root, radix);
    let mut vector = own.part(length);
    if group.me == root || tree.children().next().is_some() {
        let output = Part::of(Area::Output, 0..length);
        let result = if group.me == root { output } else { schedule.room(length) };
        schedule.copy(vector, result);
        // The places of a smaller subtree are lower, so its operand comes first. Those of one size arrive together.
        let children: Vec<_> = tree.children().rev().map(|places| places.start).collect();
        let most = children.len().min(radix - 1);
        let operands: Vec<Part> = (0..most).map(|_| schedule.room(length)).collect();
        for level in children.chunks(radix - 1) {
            let from = level.iter().zip(&operands);
            schedule.messages(from.map(|(&child, &to)| Message::new(tree.member(child), to)), []);
            let came = &operands[..level.len()];
            came.iter().for_each(|&operand| schedule.combine(result, operand, true));
        }
        vector = result;
    }
    if let Some(parent) = tree.parent() {
        schedule.send(tree.member(parent), vector);
    }
    schedule
}

/// Builds recursive halving, which leaves one finished part at each member of the core, followed by a gather of the
/// parts (Rabenseifner 2004): all members combine at once, and each unit passes a member about twice.
pub fn rabenseifner(
    group: Membership,
    root: usize,
    length: usize,
    order: Order,
    own: Own,
) -> Schedule {
    to_root(group, root, length, order, own, |combining, number| {
        for step in combining.halve(number).into_iter().rev() {
            let other = combining.fold.member(step.partner);
            let vector = combining.vector;
            if step.partner < number {
                combining.schedule.send(other, vector.within(step.keep));
                return;
            }
            combining.schedule.receive(other, vector.within(step.away));
        }
    })
}

/// Appends the transfer of the result to the root. The result ends at the root itself unless the order of the ranks
/// matters. Then it ends at member 0, which sends it to the root.
fn to_root(
    group: Membership,
    root: usize,
    length: usize,
    order: Order,
    own: Own,
    core: impl Fn(&mut Combining, usize),
) -> Schedule {
    let top = if order == Order::Any { root } else { 0 };
    let mut schedule = Schedule::default();
    let output = Part::of(Area::Output, 0..length);
    let vector = if group.me == root { output } else { schedule.room(length) };
    let fold = Fold::new(group, top, order);
    let mut combining = Combining::new(schedule, fold, own.part(length), vector);
    if let Folded::Takes { number, .. } = combining.gather_fold() {
        core(&mut combining, number);
    }
    let mut schedule = combining.schedule;
    if top != root && group.me == top {
        schedule.send(root, vector);
    } else if top != root && group.me == root {
        schedule.receive(top, output);
    }
    schedule
}
