//! Scatter: block r of the root's input is copied to the output of member r.

use super::{Around, Own, to_others};
use crate::{Area, Blocks, Membership, Message, Part, Schedule};

/// Builds a binomial tree: each member receives the blocks of its whole subtree in one message and forwards those of
/// its children, so the root sends log2 P messages and each unit once.
pub fn binomial(group: Membership, root: usize, each: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let tree = group.place_from(root);
    let output = Part::of(Area::Output, 0..each);
    let Some(parent) = tree.parent() else {
        at_root(&mut schedule, group, &Blocks::equal(group.size, each), own);
        return schedule;
    };
    let places = tree.own();
    if places.len() == 1 {
        schedule.receive(tree.member(parent), output);
        return schedule;
    }
    let held = schedule.room(places.len() * each);
    schedule.receive(tree.member(parent), held);
    let offset = |place: usize| (place - places.start) * each;
    let to_children = tree.children().map(|child| {
        Message::new(tree.member(child.start), held.within(offset(child.start)..offset(child.end)))
    });
    schedule.messages([], to_children);
    schedule.copy(held.within(0..each), output);
    schedule
}

fn at_root(schedule: &mut Schedule, group: Membership, blocks: &Blocks, own: Own) {
    let tree = group.place_from(group.me);
    let input = |units| Part::of(Area::Input, units);
    let mut sends = Vec::new();
    for places in tree.children() {
        let child = tree.member(places.start);
        let (first, second) = blocks.around(child, places.len());
        let part = match second.is_empty() {
            true => input(first),
            false => {
                let around = Around::new(schedule, Area::Input, (first, second));
                around.pack(schedule);
                around.packed
            }
        };
        sends.push(Message::new(child, part));
    }
    schedule.messages([], sends);
    own.copy(schedule, input(blocks.one(group.me)), Part::of(Area::Output, blocks.one(0)));
}

/// Sends every member its block from the root. Permits blocks of arbitrary lengths, which only the root has.
pub fn linear(group: Membership, root: usize, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let output = |length| Part::of(Area::Output, 0..length);
    if group.me != root {
        schedule.receive(root, output(blocks.longest()));
        return schedule;
    }
    let own_block = blocks.one(root);
    let length = own_block.len();
    own.copy(&mut schedule, Part::of(Area::Input, own_block), output(length));
    let sends = to_others(group, |other| Part::of(Area::Input, blocks.one(other)));
    schedule.messages([], sends);
    schedule
}
