//! Reduce and allreduce over boards. Parts are combined from the last rank's to the first one's, the lower always on the left.

use contract::{Rank, Reduction, Result, TimeSpan};

use super::{Call, Pieces, call_of_all, rooted};
use crate::machine::Board;
use crate::rank::SimulatedRank;

/// From this length on more than two ranks share the combining of a piece.
const SHARED_FROM_BYTES: usize = 2048;

/// Combines `send` of all ranks into `receive` of the root.
pub(crate) fn reduce(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    root: usize,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (mut call, is_root) = rooted(rank, board, "reduce", root)?;
    call.mark.reduction = Some(reduction);
    if is_root && receive.len() != send.len() {
        return call.refuse("`receive` at the root", send.len(), receive.len());
    }
    check_elements(&call, reduction, send)?;
    let pieces = Pieces::new(board, 1, send.len());
    call.run(
        pieces.count(),
        |call, step, piece| {
            let range = pieces.range(piece);
            if is_root {
                // A root that combines all by itself reads its own part where it is.
                if shares_combining(call, range.len()) {
                    call.copy(range.len());
                }
                call.rank.put_part(step, &send[range]);
            } else {
                call.put_piece(step, range, send);
            }
        },
        |call, step, piece| {
            if !is_root {
                return Ok(());
            }
            let range = pieces.range(piece);
            let time = call.combining(range.len());
            combine(call, step, reduction, &send[range.clone()], &mut receive[range], time)
        },
    )
}

/// Combines `send` of all ranks into `receive` of all ranks.
pub(crate) fn allreduce(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let mut call = call_of_all(rank, board, "allreduce");
    call.mark.reduction = Some(reduction);
    if receive.len() != send.len() {
        return call.refuse("`receive`", send.len(), receive.len());
    }
    check_elements(&call, reduction, send)?;
    let pieces = Pieces::new(board, 1, send.len());
    let size = call.rank.size();
    call.run(
        pieces.count(),
        |call, step, piece| call.put_piece(step, pieces.range(piece), send),
        |call, step, piece| {
            let range = pieces.range(piece);
            let bytes = range.len();
            let shared = shares_combining(call, bytes);
            let own = if shared { bytes / size } else { bytes };
            let others = call.board.take.of((bytes - own) as u64);
            let combined = call.combining(own);
            let time = if shared { combined + others } else { combined };
            combine(call, step, reduction, &send[range.clone()], &mut receive[range], time)
        },
    )
}

/// Whether the ranks share the combining of a piece of that length.
fn shares_combining(call: &Call<'_, '_>, bytes: usize) -> bool {
    call.rank.size() > 2 && bytes >= SHARED_FROM_BYTES
}

fn check_elements(call: &Call<'_, '_>, reduction: Reduction, send: &[u8]) -> Result<()> {
    let broken = send.len() % reduction.element.bytes();
    if broken == 0 {
        return Ok(());
    }
    call.refuse("`send` in whole elements", send.len() - broken, send.len())
}

/// Combines all ranks' parts, from the last one's to the first one's, once all are there; it takes `time`.
fn combine(
    call: &mut Call<'_, '_>,
    step: u64,
    reduction: Reduction,
    own: &[u8],
    result: &mut [u8],
    time: TimeSpan,
) -> Result<()> {
    let me = call.rank.rank();
    call.others().try_for_each(|of| call.part(of, step, own.len(), |_| {}))?;
    call.work(time);
    let mut outcome = Ok(());
    for of in (0..call.rank.size()).rev() {
        let last = of + 1 == call.rank.size();
        let mut add = |part: &[u8]| {
            if last {
                result.copy_from_slice(part);
            } else if outcome.is_ok() {
                outcome = reduction.combine(result, part);
            }
        };
        if of == me { add(own) } else { call.rank.with_part(of, step, add) }
    }
    outcome
}
