//! Reduce: the inputs of all members, combined, become the root's output.

use super::Own;
use super::combining::Combining;
use crate::membership::{Fold, Folded, Order};
use crate::{Area, Membership, Part, Schedule};

/// Up a binomial tree.
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

/// By recursive halving, after which each member of the core has one finished part, and a gather of the parts
/// (Rabenseifner 2004): all members combine at once, and each unit passes a member about twice.
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

/// The member that ends up with the result is the root, unless the order of the ranks counts: then it is member 0,
/// which passes it on.
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
