//! Collectives by messages, in blocking calls.
//!
//! The algorithms are schedules of the crate `collectives`, which also selects them: by the number of ranks and by
//! lengths that all ranks share, never by measured times, so that runs are reproducible. This module executes them over
//! point-to-point calls, and detects mistakes. A caller may name an algorithm; one that does not support the collective
//! returns [`Error::Unsupported`](crate::Error::Unsupported).
//!
//! # Detected mistakes
//! Contradictory lengths within a call are refused before any message is sent. Between the ranks, the tag of each
//! message carries the collective, algorithm, root and reduction of its sender, and a collective receives its
//! neighbour's next message whatever it is. The first rank that receives from one that makes another call, or the same
//! call with another length, returns [`Error::MismatchedCollective`] or [`Error::UnequalCounts`].
//!
//! Algorithms that are selected by length begin with the same partners, so ranks that disagree on the *length* always
//! exchange a message. One that only sends (a leaf, or a root that no other rank considers the root) may have finished
//! by then. The mistake is then detected in the next collective in which the two exchange a message. Ranks that
//! disagree on the collective or on the root usually exchange a message too. But ranks that each wait for another that
//! sends them nothing (two that both consider themselves the root of a gather) cannot detect that from messages. A
//! fabric that detects deadlocks, or that compares calls in shared memory, ends such a circle; elsewhere the user must.
//!
//! [`Error::MismatchedCollective`]: crate::Error::MismatchedCollective
//! [`Error::UnequalCounts`]: crate::Error::UnequalCounts

mod lengths;
mod messages;
mod run;

pub use collectives::{Algorithm, Collective};

use collectives::{Blocks, Call, Order, Own};

use crate::{Rank, Reduction, Result, check_rank};
use lengths::{expect_bytes, expect_multiple};
use run::{Memory, run};

/// Waits until every rank has reached the barrier.
pub fn barrier<R: Rank + ?Sized>(rank: &mut R, algorithm: Option<Algorithm>) -> Result<()> {
    run(rank, Call::Barrier, Own::InInput, algorithm, Memory::of_bytes(&[], &mut []))
}

/// Copies `buffer` of rank `root` into `buffer` of every rank.
pub fn broadcast<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    root: usize,
    buffer: &mut [u8],
) -> Result<()> {
    check_rank(root, rank.size())?;
    let call = Call::Broadcast { root, length: buffer.len() };
    run(rank, call, Own::InOutput, algorithm, Memory::of_bytes(&[], buffer))
}

/// Copies block r of `send` at rank `root` to rank r's `receive`.
pub fn scatter<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = rank.size();
    check_rank(root, size)?;
    if rank.rank() == root {
        let wanted = size * receive.len();
        expect_bytes(Collective::Scatter, "`send` at the root", wanted, send)?;
    }
    let call = Call::Scatter { root, blocks: Blocks::equal(size, receive.len()) };
    run(rank, call, Own::InInput, algorithm, Memory::of_bytes(send, receive))
}

/// Copies `send` of rank r to block r of `receive` at rank `root`.
pub fn gather<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    root: usize,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = rank.size();
    check_rank(root, size)?;
    if rank.rank() == root {
        let wanted = size * send.len();
        expect_bytes(Collective::Gather, "`receive` at the root", wanted, receive)?;
    }
    let call = Call::Gather { root, blocks: Blocks::equal(size, send.len()) };
    run(rank, call, Own::InInput, algorithm, Memory::of_bytes(send, receive))
}

/// Copies `send` of rank r to block r of `receive` at every rank.
pub fn allgather<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = rank.size();
    expect_bytes(Collective::Allgather, "`receive`", size * send.len(), receive)?;
    let call = Call::Allgather { blocks: Blocks::equal(size, send.len()) };
    run(rank, call, Own::InInput, algorithm, Memory::of_bytes(send, receive))
}

/// Copies block r of rank r's `buffer` to block r of every rank's `buffer`.
pub fn allgather_in_place<R: Rank + ?Sized>(rank: &mut R, buffer: &mut [u8]) -> Result<()> {
    let size = rank.size();
    let what = "`buffer` in blocks of one a rank";
    expect_multiple(Collective::Allgather, what, size, buffer)?;
    let call = Call::Allgather { blocks: Blocks::equal(size, buffer.len() / size) };
    run(rank, call, Own::InOutput, None, Memory::of_bytes(&[], buffer))
}

/// Combines `send` of all ranks into `receive` at rank `root`. The same input always has the same bits as result.
pub fn reduce<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    root: usize,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    check_rank(root, rank.size())?;
    let element_bytes = reduction.element.bytes();
    expect_multiple(Collective::Reduce, "`send` in whole elements", element_bytes, send)?;
    if rank.rank() == root {
        expect_bytes(Collective::Reduce, "`receive` at the root", send.len(), receive)?;
    }
    let length = send.len() / element_bytes;
    let call = Call::Reduce { root, length, order: Order::Any };
    run(rank, call, Own::InInput, algorithm, Memory::of_elements(reduction, send, receive))
}

/// Combines `send` of all ranks into `receive` of all ranks, with the same bits on each.
pub fn allreduce<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let length = send.len() / reduction.element.bytes();
    let call = Call::Allreduce { length, order: Order::Any };
    combine_at_all(rank, algorithm, call, reduction, (send, receive))
}

/// Combines block r of `send` of all ranks into `receive` at rank r.
pub fn reduce_scatter<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let (size, element_bytes) = (rank.size(), reduction.element.bytes());
    expect_multiple(
        Collective::ReduceScatter,
        "`receive` in whole elements",
        element_bytes,
        receive,
    )?;
    let wanted = size * receive.len();
    expect_bytes(Collective::ReduceScatter, "`send` in blocks of one a rank", wanted, send)?;
    let blocks = Blocks::equal(size, receive.len() / element_bytes);
    let call = Call::ReduceScatter { blocks, order: Order::Any };
    run(rank, call, Own::InInput, algorithm, Memory::of_elements(reduction, send, receive))
}

/// Combines `send` of the ranks up to each rank into `receive` at that rank; if `exclusive`, without its own, so that
/// `receive` of rank 0 is not changed.
pub fn scan<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    exclusive: bool,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let call = Call::Scan { length: send.len() / reduction.element.bytes(), exclusive };
    combine_at_all(rank, algorithm, call, reduction, (send, receive))
}

/// Runs a call that combines elements of `send` into as many of `receive` at each rank.
fn combine_at_all<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    call: Call,
    reduction: Reduction,
    (send, receive): (&[u8], &mut [u8]),
) -> Result<()> {
    let element_bytes = reduction.element.bytes();
    expect_multiple(call.collective(), "`send` in whole elements", element_bytes, send)?;
    expect_bytes(call.collective(), "`receive`", send.len(), receive)?;
    run(rank, call, Own::InInput, algorithm, Memory::of_elements(reduction, send, receive))
}

/// Copies block r of rank s's `send` to block s of rank r's `receive`.
pub fn all_to_all<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let size = rank.size();
    expect_multiple(Collective::AllToAll, "`send` in blocks of one a rank", size, send)?;
    expect_bytes(Collective::AllToAll, "`receive`", send.len(), receive)?;
    let blocks = Blocks::equal(size, send.len() / size);
    let call = Call::AllToAll { input: blocks.clone(), output: blocks };
    run(rank, call, Own::InInput, algorithm, Memory::of_bytes(send, receive))
}
