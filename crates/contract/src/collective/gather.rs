//! Gather.

use super::blocks::{Blocks, charge_copy, children, receive_around, subtree};
use super::call::{Call, Kind};
use super::{after, before};
use crate::{Rank, Result};

/// Puts `send` of rank r into block r of `receive` at rank `root`.
///
/// Up a binomial tree: each rank collects the blocks of its subtree, smallest subtrees first, and passes them on in one
/// message, so the root receives log2 P messages and each byte once.
pub fn gather<R: Rank + ?Sized>(
    machine: &mut R,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = machine.size();
    let call = Call::rooted(Kind::Gather, root, size)?;
    let place = before(machine.rank(), root, size);
    if place == 0 {
        call.expect_bytes("`receive` at the root", size * send.len(), receive)?;
        return at_root(machine, call, send, receive);
    }
    let block_bytes = send.len();
    let parent = after(root, place - subtree(place, size), size);
    let held = subtree(place, size).min(size - place);
    if held == 1 {
        return call.send(machine, parent, send);
    }
    let mut subtree_blocks = vec![0; held * block_bytes];
    charge_copy(machine, block_bytes);
    subtree_blocks[..block_bytes].copy_from_slice(send);
    for places in children(place, size).rev() {
        let theirs = (places.start - place) * block_bytes..(places.end - place) * block_bytes;
        call.receive(machine, after(root, places.start, size), &mut subtree_blocks[theirs])?;
    }
    call.send(machine, parent, &subtree_blocks)
}

fn at_root<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (root, size) = (machine.rank(), machine.size());
    let blocks = Blocks::new(size, receive.len());
    charge_copy(machine, send.len());
    receive[blocks.bytes(root..root + 1)].copy_from_slice(send);
    for places in children(0, size).rev() {
        let child = after(root, places.start, size);
        receive_around(machine, call, child, receive, blocks.around(child, places.len()))?;
    }
    Ok(())
}
