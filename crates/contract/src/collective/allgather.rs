//! Allgather, also in place.

use super::blocks::{Blocks, charge_copy, packed, two_parts, unpack};
use super::call::{Call, Kind};
use super::{LONG_BYTES, after, before};
use crate::{Rank, Result};

/// Puts `send` of rank r into block r of `receive` of every rank.
pub fn allgather<R: Rank + ?Sized>(machine: &mut R, send: &[u8], receive: &mut [u8]) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    Call::new(Kind::Allgather).expect_bytes("`receive`", size * send.len(), receive)?;
    charge_copy(machine, send.len());
    receive[rank * send.len()..][..send.len()].copy_from_slice(send);
    allgather_in_place(machine, receive)
}

/// Copies block r of rank r's `buffer` into block r of every rank's.
pub fn allgather_in_place<R: Rank + ?Sized>(machine: &mut R, buffer: &mut [u8]) -> Result<()> {
    let ring = is_long(buffer.len() / machine.size());
    in_place_by(machine, buffer, ring)
}

/// The same, by the ring or by dissemination.
pub(super) fn in_place_by<R: Rank + ?Sized>(
    machine: &mut R,
    buffer: &mut [u8],
    ring: bool,
) -> Result<()> {
    let size = machine.size();
    let call = Call::new(if ring { Kind::LongAllgather } else { Kind::Allgather });
    call.expect_multiple("`buffer` in blocks of one a rank", size, buffer)?;
    from_root(machine, call, 0, Blocks::new(size, buffer.len()), buffer, ring)
}

/// Whether blocks of this length go around the ring.
pub(super) fn is_long(block_bytes: usize) -> bool {
    block_bytes >= LONG_BYTES
}

/// Block i belongs to the rank i after `root`, which has it; all get all.
///
/// Both ways send each byte P - 1 times in all. Dissemination (Bruck et al. 1997, turned round so that blocks land
/// where they belong) needs log2 P messages, but copies runs of blocks that go around the buffer's end; the ring needs
/// P - 1 messages between neighbours and copies nothing, which is better once a block's copy costs more than a message.
pub(super) fn from_root<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    root: usize,
    blocks: Blocks,
    buffer: &mut [u8],
    around: bool,
) -> Result<()> {
    if around {
        ring(machine, call, root, blocks, buffer)
    } else {
        dissemination(machine, call, root, blocks, buffer)
    }
}

/// Each rank passes on the block that it received last.
fn ring<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    root: usize,
    blocks: Blocks,
    buffer: &mut [u8],
) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let place = before(rank, root, size);
    let (right, left) = (after(rank, 1, size), before(rank, 1, size));
    for step in 0..size - 1 {
        let old = before(place, step, size);
        let new = before(place, step + 1, size);
        let (send, receive) =
            two_parts(buffer, blocks.bytes(old..old + 1), blocks.bytes(new..new + 1));
        call.exchange(machine, (right, send), (left, receive))?;
    }
    Ok(())
}

/// A rank that holds its own block and those of the m - 1 ranks before it gets the m before those from the rank m
/// before it. Sender and receiver speak of the same blocks, so both or neither go around the buffer's end.
fn dissemination<R: Rank + ?Sized>(
    machine: &mut R,
    call: Call,
    root: usize,
    blocks: Blocks,
    buffer: &mut [u8],
) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let place = before(rank, root, size);
    let mut held = 1;
    while held < size {
        let count = held.min(size - held);
        let (to, from) = (after(rank, held, size), before(rank, held, size));
        let out = blocks.around(place + size + 1 - count, count);
        let into = blocks.around(place + 2 * size + 1 - held - count, count);
        if out.1.is_empty() && into.1.is_empty() {
            let (send, receive) = two_parts(buffer, out.0, into.0);
            call.exchange(machine, (to, send), (from, receive))?;
        } else {
            let send = packed(machine, buffer, &out);
            let mut receive = vec![0; into.0.len() + into.1.len()];
            call.exchange(machine, (to, &send), (from, &mut receive))?;
            unpack(machine, &receive, buffer, into);
        }
        held *= 2;
    }
    Ok(())
}
