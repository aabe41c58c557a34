//! Broadcast.

use super::blocks::{Blocks, children, subtree};
use super::call::{Call, Kind};
use super::{LONG_BYTES, after, allgather, before};
use crate::{Rank, Result};

/// Copies `buffer` of rank `root` into `buffer` of every rank.
///
/// Short ones go down a binomial tree: log2 P messages of the whole length one after the other. Long ones are
/// scattered down the same tree, each subtree its part, and then gathered by all (van de Geijn): twice the messages,
/// but each byte passes a rank only twice; that pays where log2 P is above 2.
pub fn broadcast<R: Rank + ?Sized>(machine: &mut R, root: usize, buffer: &mut [u8]) -> Result<()> {
    let long = buffer.len() >= LONG_BYTES && machine.size() > 4;
    broadcast_by(machine, root, buffer, long)
}

/// The same, by the algorithm for long or for short ones.
pub(super) fn broadcast_by<R: Rank + ?Sized>(
    machine: &mut R,
    root: usize,
    buffer: &mut [u8],
    long: bool,
) -> Result<()> {
    let size = machine.size();
    let kind = if long { Kind::LongBroadcast } else { Kind::Broadcast };
    let call = Call::rooted(kind, root, size)?;
    let place = before(machine.rank(), root, size);
    let blocks = Blocks::new(size, buffer.len());
    let bytes = buffer.len();
    // What the subtree of these places needs.
    let part = |start: usize, end: usize| if long { blocks.bytes(start..end) } else { 0..bytes };

    if place > 0 {
        let parent = after(root, place - subtree(place, size), size);
        let own = part(place, (place + subtree(place, size)).min(size));
        call.receive(machine, parent, &mut buffer[own])?;
    }
    for places in children(place, size) {
        let child = after(root, places.start, size);
        let theirs = part(places.start, places.end);
        call.send(machine, child, &buffer[theirs])?;
    }
    if !long {
        return Ok(());
    }
    let ring = allgather::is_long(blocks.block_bytes());
    allgather::from_root(machine, call, root, blocks, buffer, ring)
}
