//! Broadcast: the root's output is copied to the output of every member.

use std::ops::Range;

use super::allgather;
use crate::membership::Place;
use crate::{Area, Blocks, Membership, Message, Part, Schedule};

/// Builds a binomial tree: log2 P consecutive messages of the whole length.
pub fn binomial(group: Membership, root: usize, length: usize) -> Schedule {
    knomial(group, (root, 2), length)
}

/// Builds a tree of any radix: a wider one has fewer levels, and members that send more messages.
pub fn knomial(group: Membership, (root, radix): (usize, usize), length: usize) -> Schedule {
    let mut schedule = Schedule::default();
    down_the_tree(&mut schedule, group.place_in_tree(root, radix), |_| 0..length);
    schedule
}

/// Builds a scatter down the tree, one part to each subtree, followed by an allgather (van de Geijn): twice as many
/// messages, but each unit passes a member only twice.
pub fn scatter_allgather(group: Membership, root: usize, length: usize, ring: bool) -> Schedule {
    let mut schedule = Schedule::default();
    let blocks = Blocks::split(group.size, length);
    let of = blocks.clone();
    down_the_tree(&mut schedule, group.place_from(root), move |places| of.some(places));
    allgather::from_root(&mut schedule, group, root, &blocks, ring);
    schedule
}

/// Appends the rounds in which each member receives the units of its subtree and forwards those of its children.
fn down_the_tree(
    schedule: &mut Schedule,
    tree: Place,
    needed: impl Fn(Range<usize>) -> Range<usize>,
) {
    let part = |places| Part::of(Area::Output, needed(places));
    if let Some(parent) = tree.parent() {
        schedule.receive(tree.member(parent), part(tree.own()));
    }
    let to_children =
        tree.children().map(|places| Message::new(tree.member(places.start), part(places)));
    let to_children: Vec<Message> = to_children.collect();
    if !to_children.is_empty() {
        schedule.messages([], to_children);
    }
}
