//! Allgather: the input of member r becomes block r of the output of every member.

use std::ops::Range;

use super::{Around, Own, from_others, to_others};
use crate::{Area, Blocks, Membership, Message, Part, Round, Schedule};

fn output(units: Range<usize>) -> Part {
    Part::of(Area::Output, units)
}

/// Returns a schedule that begins with the copy of this member's own block into the output.
fn with_own_block(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = Schedule::default();
    let block = blocks.one(group.me);
    own.copy(&mut schedule, Part::of(Area::Input, 0..block.len()), output(block));
    schedule
}

/// Builds a ring: each member forwards the block that it received last. Takes P - 1 messages between neighbours and no
/// copies.
pub fn ring(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = with_own_block(group, blocks, own);
    from_root(&mut schedule, group, 0, blocks, true);
    schedule
}

/// Builds a dissemination (Bruck et al. 1997, reversed so that blocks arrive at their final position): log2 P messages,
/// with copies of the runs of blocks that wrap around the end of the output. Requires a contiguous output.
pub fn bruck(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = with_own_block(group, blocks, own);
    from_root(&mut schedule, group, 0, blocks, false);
    schedule
}

/// Sends the block of each member to every other, all in one round.
pub fn linear(group: Membership, blocks: &Blocks, own: Own) -> Schedule {
    let mut schedule = with_own_block(group, blocks, own);
    let mine = output(blocks.one(group.me));
    let receives = from_others(group, |other| output(blocks.one(other)));
    schedule.messages(receives, to_others(group, |_| mine));
    schedule
}

/// Gathers at all members blocks that lie at the member `root` places before their position: block i starts at the
/// member i after `root`.
pub(super) fn from_root(
    schedule: &mut Schedule,
    group: Membership,
    root: usize,
    blocks: &Blocks,
    ring: bool,
) {
    match ring {
        true => around(schedule, group, root, blocks.clone()),
        false => disseminate(schedule, group, root, blocks),
    }
}

fn around(schedule: &mut Schedule, group: Membership, root: usize, blocks: Blocks) {
    let (right, left) = (group.after(1), group.before(1));
    let by_place = Membership { me: group.before(root), ..group };
    schedule.rounds(group.size - 1, move |round| {
        let (old, new) = (by_place.before(round), by_place.before(round + 1));
        Round::exchange(
            Message::new(right, output(blocks.one(old))),
            Message::new(left, output(blocks.one(new))),
        )
    });
}

/// Appends the rounds in which a member that has its own block and those of the m - 1 members before it receives the m
/// blocks before those from the member m before it. Sender and receiver move the same blocks, so both wrap around the
/// end of the output or neither does.
fn disseminate(schedule: &mut Schedule, group: Membership, root: usize, blocks: &Blocks) {
    let (size, place) = (group.size, group.before(root));
    let mut held = 1;
    while held < size {
        let count = held.min(size - held);
        let out = blocks.around(place + size + 1 - count, count);
        let into = blocks.around(place + 2 * size + 1 - held - count, count);
        let (to, from) = (group.after(held), group.before(held));
        if out.1.is_empty() && into.1.is_empty() {
            schedule.exchange(Message::new(to, output(out.0)), Message::new(from, output(into.0)));
        } else {
            let send = Around::new(schedule, Area::Output, out);
            let receive = Around::new(schedule, Area::Output, into);
            send.pack(schedule);
            schedule.exchange(Message::new(to, send.packed), Message::new(from, receive.packed));
            receive.unpack(schedule);
        }
        held *= 2;
    }
}
