//! Scatter.

use super::blocks::{Blocks, charge_copy, children, send_around, subtree};
use super::call::{Call, Kind};
use super::{after, before};
use crate::{Rank, Result};

/// Gives block r of `send` at rank `root` to rank r's `receive`.
///
/// Down a binomial tree: each rank receives the blocks of its whole subtree in one message and passes on those of its
/// children, so the root sends log2 P messages and each byte once.
pub fn scatter<R: Rank + ?Sized>(
    machine: &mut R,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = machine.size();
    let call = Call::rooted(Kind::Scatter, root, size)?;
    let place = before(machine.rank(), root, size);
    if place == 0 {
        call.expect_bytes("`send` at the root", size * receive.len(), send)?;
        return at_root(machine, call, send, receive);
    }
    let block_bytes = receive.len();
    let parent = after(root, place - subtree(place, size), size);
    let held = subtree(place, size).min(size - place);
    if held == 1 {
        return call.receive(machine, parent, receive);
    }
    let mut subtree_blocks = vec![0; held * block_bytes];
    call.receive(machine, parent, &mut subtree_blocks)?;
    for places in children(place, size) {
        let theirs = (places.start - place) * block_bytes..(places.end - place) * block_bytes;
        call.send(machine, after(root, places.start, size), &subtree_blocks[theirs])?;
    }
    charge_copy(machine, block_bytes);
    receive.copy_from_slice(&subtree_blocks[..block_bytes]);
    Ok(())
}

fn at_root<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (root, size) = (machine.rank(), machine.size());
    let blocks = Blocks::new(size, send.len());
    for places in children(0, size) {
        let child = after(root, places.start, size);
        send_around(machine, call, child, send, blocks.around(child, places.len()))?;
    }
    charge_copy(machine, receive.len());
    receive.copy_from_slice(&send[blocks.bytes(root..root + 1)]);
    Ok(())
}
