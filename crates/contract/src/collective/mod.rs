//! Every collective by messages, in blocking calls.
//!
//! The algorithms are schedules of the crate `collectives`, which also chooses: by the rank count and by lengths that all ranks
//! share, never by measured times, so that a run repeats exactly. This module carries them out over point-to-point calls, and
//! finds mistakes. A caller may name an algorithm; one that cannot do the collective is
//! [`Error::Unsupported`](crate::Error::Unsupported).
//!
//! # Mistakes that are found
//! Lengths that contradict each other within a call are refused before any message is sent. Between the ranks, each
//! message carries in its tag which collective, algorithm, root and reduction its sender is in, and a collective
//! receives its neighbour's next message whatever it is: the first rank that receives from one that does something
//! else, or does it with another length, returns [`Error::MismatchedCollective`] or [`Error::UnequalCounts`].
//!
//! The algorithms between which a length decides begin with the same partners, so ranks that disagree on the *length* always
//! meet; one that only sends (a leaf, or a root that nobody else takes for it) may have finished by then, and the
//! mistake shows in the next collective in which the two meet. Ranks that disagree on the collective or on the root
//! usually meet too, but ranks that each wait for another that sends them nothing (two that both think themselves the
//! root of a gather) cannot learn of it from messages. Such a circle is ended by a fabric that finds deadlocks, or that
//! compares calls in memory that all ranks see; elsewhere by the user.
//!
//! [`Error::MismatchedCollective`]: crate::Error::MismatchedCollective
//! [`Error::UnequalCounts`]: crate::Error::UnequalCounts

mod mark;
mod marked;
mod run;

pub use collectives::{Algorithm, Collective};

pub(crate) use mark::describe;

use collectives::{Blocks, Call, Order, Own};

use crate::{Rank, Reduction, Result, check_rank};
use mark::{expect_bytes, expect_multiple};
use run::{Memory, run};

/// Waits until every rank has come here.
pub fn barrier<R: Rank + ?Sized>(rank: &mut R) -> Result<()> {
    run(rank, Call::Barrier, Own::InInput, None, Memory::of_bytes(&[], &mut []))
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

/// Gives block r of `send` at rank `root` to rank r's `receive`.
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

/// Puts `send` of rank r into block r of `receive` at rank `root`.
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

/// Puts `send` of rank r into block r of `receive` of every rank.
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

/// Copies block r of rank r's `buffer` into block r of every rank's.
pub fn allgather_in_place<R: Rank + ?Sized>(rank: &mut R, buffer: &mut [u8]) -> Result<()> {
    let size = rank.size();
    let what = "`buffer` in blocks of one a rank";
    expect_multiple(Collective::Allgather, what, size, buffer)?;
    let call = Call::Allgather { blocks: Blocks::equal(size, buffer.len() / size) };
    run(rank, call, Own::InOutput, None, Memory::of_bytes(&[], buffer))
}

/// Combines `send` of all ranks into `receive` at rank `root`. The same input gives the same bits again.
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

/// Combines `send` of all ranks into `receive` of all ranks: the same bits on each.
pub fn allreduce<R: Rank + ?Sized>(
    rank: &mut R,
    algorithm: Option<Algorithm>,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let element_bytes = reduction.element.bytes();
    expect_multiple(Collective::Allreduce, "`send` in whole elements", element_bytes, send)?;
    expect_bytes(Collective::Allreduce, "`receive`", send.len(), receive)?;
    let call = Call::Allreduce { length: send.len() / element_bytes, order: Order::Any };
    run(rank, call, Own::InInput, algorithm, Memory::of_elements(reduction, send, receive))
}

/// Gives block r of `send` of rank s to rank r, as block s of its `receive`.
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

#[cfg(test)]
mod tests;
