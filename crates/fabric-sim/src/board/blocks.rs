//! Scatter, gather, allgather and all-to-all over boards.

use std::ops::Range;

use contract::{Rank, Result, TimeSpan, Work, WorkKind};

use super::{Call, Pieces, call_of_all, rooted};
use crate::machine::Board;
use crate::rank::SimulatedRank;

/// Gives block r of `send` at the root to rank r.
pub(crate) fn scatter(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (mut call, is_root) = rooted(rank, board, "scatter", root)?;
    let (me, size, each) = (call.rank.rank(), call.rank.size(), receive.len());
    // A part lies on its receiver's board, so each may be as long as a piece.
    let pieces = Pieces::new(board, 1, each);
    if is_root {
        if send.len() != size * each {
            return call.refuse("`send` at the root", size * each, send.len());
        }
        call.copy(each);
        receive.copy_from_slice(&send[me * each..][..each]);
        let show = |call: &mut Call<'_, '_>, step, piece| {
            let part = across(send, each, pieces.range(piece));
            call.put(step, part.len() / size * (size - 1), &part);
        };
        return call.run(pieces.count(), show, |_, _, _| Ok(()));
    }
    call.run(
        pieces.count(),
        |_, _, _| {},
        |call, step, piece| {
            let range = pieces.range(piece);
            let bytes = range.len();
            call.take(root, step, (size * bytes, bytes), |part| {
                receive[range].copy_from_slice(&part[me * bytes..][..bytes]);
            })
        },
    )
}

/// Puts `send` of rank r into block r of the root's `receive`.
pub(crate) fn gather(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (mut call, is_root) = rooted(rank, board, "gather", root)?;
    let (me, size, each) = (call.rank.rank(), call.rank.size(), send.len());
    let pieces = Pieces::new(board, 1, each);
    if !is_root {
        let show = |call: &mut Call<'_, '_>, step, piece| {
            call.put_piece(step, pieces.range(piece), send);
        };
        return call.run(pieces.count(), show, |_, _, _| Ok(()));
    }
    if receive.len() != size * each {
        return call.refuse("`receive` at the root", size * each, receive.len());
    }
    receive[me * each..][..each].copy_from_slice(send);
    let mut own = each;
    call.run(
        pieces.count(),
        |_, _, _| {},
        |call, step, piece| {
            // The root copies its own block while it would wait.
            while own > 0 && !call.others().all(|of| call.rank.sees_part(of, step)) {
                copy_some(call, &mut own, each);
            }
            take_blocks(call, step, pieces.range(piece), each, receive)
        },
    )?;
    while own > 0 {
        copy_some(&mut call, &mut own, each);
    }
    Ok(())
}

/// Copies a stretch of what is `left` of a block of `block_bytes`, at the pace of the whole block: what it takes is decided by the
/// caches that the block fits.
fn copy_some(call: &mut Call<'_, '_>, left: &mut usize, block_bytes: usize) {
    const STRETCH_BYTES: usize = 16 << 10;
    let bytes = STRETCH_BYTES.min(*left);
    let whole = call.rank.time_of(Work::new(WorkKind::CopyBytes, block_bytes as u64));
    let ps = u128::from(whole.as_ps()) * bytes as u128 / block_bytes as u128;
    call.work(TimeSpan::from_ps(ps as u64));
    *left -= bytes;
}

/// Puts `send` of rank r into block r of every rank's `receive`.
pub(crate) fn allgather(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let mut call = call_of_all(rank, board, "allgather");
    let (me, size, each) = (call.rank.rank(), call.rank.size(), send.len());
    if receive.len() != size * each {
        return call.refuse("`receive`", size * each, receive.len());
    }
    call.copy(each);
    receive[me * each..][..each].copy_from_slice(send);
    exchange_blocks(call, receive)
}

/// Copies block r of rank r's `buffer` into block r of every rank's.
pub(crate) fn allgather_in_place(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    buffer: &mut [u8],
) -> Result<()> {
    let call = call_of_all(rank, board, "allgather");
    let broken = buffer.len() % call.rank.size();
    if broken != 0 {
        let whole = buffer.len() - broken;
        return call.refuse("`buffer` in blocks of one a rank", whole, buffer.len());
    }
    exchange_blocks(call, buffer)
}

fn exchange_blocks(mut call: Call<'_, '_>, buffer: &mut [u8]) -> Result<()> {
    let (me, each) = (call.rank.rank(), buffer.len() / call.rank.size());
    let pieces = Pieces::new(call.board, 1, each);
    let own = buffer[me * each..][..each].to_vec();
    call.run(
        pieces.count(),
        |call, step, piece| call.put_piece(step, pieces.range(piece), &own),
        |call, step, piece| take_blocks(call, step, pieces.range(piece), each, buffer),
    )
}

/// Takes every other rank's piece of its block.
fn take_blocks(
    call: &mut Call<'_, '_>,
    step: u64,
    range: Range<usize>,
    each: usize,
    buffer: &mut [u8],
) -> Result<()> {
    let bytes = range.len();
    call.others().try_for_each(|of| {
        call.take(of, step, (bytes, bytes), |part| {
            buffer[of * each + range.start..][..bytes].copy_from_slice(part);
        })
    })
}

/// Gives block r of `send` of rank s to rank r, as block s of its `receive`.
pub(crate) fn all_to_all(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let mut call = call_of_all(rank, board, "all_to_all");
    let (me, size, each) = (call.rank.rank(), call.rank.size(), send.len() / call.rank.size());
    for (what, found) in
        [("`send` in blocks of one a rank", send.len()), ("`receive`", receive.len())]
    {
        if found != size * each {
            return call.refuse(what, size * each, found);
        }
    }
    call.copy(each);
    receive[me * each..][..each].copy_from_slice(&send[me * each..][..each]);
    // Nobody reads its own block, so none has room on a board.
    let parts = size - 1;
    let place = |of: usize, on: usize| if of > on { of - 1 } else { of };
    let pieces = Pieces::new(board, parts, each);
    call.run(
        pieces.count(),
        |call, step, piece| {
            let range = pieces.range(piece);
            let mut part = across(send, each, range.clone());
            part.drain(me * range.len()..(me + 1) * range.len());
            call.put(step, part.len(), &part);
        },
        |call, step, piece| {
            let range = pieces.range(piece);
            let bytes = range.len();
            call.others().try_for_each(|of| {
                call.take(of, step, (parts * bytes, bytes), |part| {
                    receive[of * each + range.start..][..bytes]
                        .copy_from_slice(&part[place(me, of) * bytes..][..bytes]);
                })
            })
        },
    )
}

/// The same range of every block, one behind the other.
fn across(blocks: &[u8], each: usize, range: Range<usize>) -> Vec<u8> {
    let starts = (0..blocks.len()).step_by(each.max(1));
    starts.flat_map(|start| &blocks[start + range.start..start + range.end]).copied().collect()
}
