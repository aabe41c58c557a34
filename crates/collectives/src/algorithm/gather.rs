//! Gather: the input of member r is copied to block r of the root's output.

use super::{Around, Own, from_others};
use crate::{Area, Blocks, Membership, Message, Part, Schedule};

/// Builds a binomial tree: each member collects the blocks of its subtree and forwards them in one message, so the root
/// receives log2 P messages and each unit once.
pub fn binomial(group: Membership, root: usize, each: usize, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let tree = group.place_from(root);
    let input = Part::of(Area::Input, 0..each);
    let Some(parent) = tree.parent() else {
        at_root(&mut schedule, group, &Blocks::equal(group.size, each), own);
        return schedule;
    };
    let places = tree.own();
    if places.len() == 1 {
        schedule.send(tree.member(parent), input);
        return schedule;
    }
    let held = schedule.room(places.len() * each);
    schedule.copy(input, held.within(0..each));
    let offset = |place: usize| (place - places.start) * each;
    let from_children = tree.children().rev().map(|child| {
        Message::new(tree.member(child.start), held.within(offset(child.start)..offset(child.end)))
    });
    schedule.messages(from_children, []);
    schedule.send(tree.member(parent), held);
    schedule
}

fn at_root(schedule: &mut Schedule, group: Membership, blocks: &Blocks, own: Own) {
    let tree = group.place_from(group.me);
    let output = |units| Part::of(Area::Output, units);
    own.copy(schedule, Part::of(Area::Input, blocks.one(0)), output(blocks.one(group.me)));
    let mut receives = Vec::new();
    let mut around: Option<Around> = None;
    for places in tree.children().rev() {
        let child = tree.member(places.start);
        let (first, second) = blocks.around(child, places.len());
        let part = match second.is_empty() {
            true => output(first),
            false => around.insert(Around::new(schedule, Area::Output, (first, second))).packed,
        };
        receives.push(Message::new(child, part));
    }
    schedule.messages(receives, []);
    if let Some(around) = around {
        around.unpack(schedule);
    }
}

/// Receives a block from every member at the root. Permits blocks of arbitrary lengths, which only the root has.
pub fn linear(group: Membership, root: usize, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let input = |length| Part::of(Area::Input, 0..length);
    if group.me != root {
        schedule.send(root, input(blocks.longest()));
        return schedule;
    }
    let own_block = blocks.one(root);
    own.copy(&mut schedule, input(own_block.len()), Part::of(Area::Output, own_block));
    let receives = from_others(group, |other| Part::of(Area::Output, blocks.one(other)));
    schedule.messages(receives, []);
    schedule
}
