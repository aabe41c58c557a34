//! The collectives of the SHARC ring: after one barrier every node knows what comes, so data go around the ring without
//! headers and without being asked for (MPI-SHARC, section 3.2).
//!
//! Each is written as what a node does on its two links: take from the left, pass to the right.

use contract::{Error, Rank, Result, Source, Tag, TagSelector, Work, WorkKind};

use crate::machine::RingCollectives;
use crate::rank::SimulatedRank;

/// Data of a broadcast are passed on in pieces of at most this much: a node's buffer for packets in transit.
const PACKET_BYTES: usize = 2048;
/// The barrier's token is one word.
const TOKEN: [u8; 4] = [0; 4];

// Marks beyond those of the generic collectives, so that a rank in one of those notices.
const BARRIER: u32 = 0xf_0000;
const BROADCAST: u32 = 0xf_1000;
const ALLGATHER: u32 = 0xf_2000;

fn tag(mark: u32, root: usize) -> Tag {
    Tag::from_wire((Tag::MAX + 1) | mark | (root as u32 & 0xfff))
}

struct Neighbours {
    left: usize,
    right: usize,
}

fn neighbours(rank: &SimulatedRank<'_>) -> Neighbours {
    let (number, size) = (rank.rank(), rank.size());
    Neighbours { left: (number + size - 1) % size, right: (number + 1) % size }
}

fn pass(rank: &mut SimulatedRank<'_>, tag: Tag, data: &[u8]) -> Result<()> {
    let right = neighbours(rank).right;
    let sending = rank.begin_bare_send(right, tag, data)?;
    rank.end_bare_send(sending)
}

fn take(
    rank: &mut SimulatedRank<'_>,
    name: &'static str,
    tag: Tag,
    buffer: &mut [u8],
) -> Result<()> {
    let left = neighbours(rank).left;
    let received = rank.receive(Source::Rank(left), TagSelector::AnyReserved, buffer);
    check(rank, name, tag, buffer.len(), received)
}

/// What came must be of the same call, and as long as it should be.
fn check(
    rank: &SimulatedRank<'_>,
    name: &'static str,
    tag: Tag,
    expected_bytes: usize,
    received: Result<contract::Status>,
) -> Result<()> {
    let (found_tag, found_bytes) = match received {
        Ok(status) => (status.tag, status.bytes),
        Err(Error::Truncated { tag, message_bytes, .. }) => (Tag::from_wire(tag), message_bytes),
        Err(error) => return Err(error),
    };
    let left = neighbours(rank).left;
    if found_tag != tag {
        let explanation =
            format!("rank {} is in {name} ({tag}), rank {left} in {found_tag}", rank.rank());
        return Err(Error::MismatchedCollective { explanation });
    }
    if found_bytes != expected_bytes {
        let what = format!("what rank {left} passes on to rank {}", rank.rank());
        return Err(Error::UnequalCounts { collective: name, what, expected_bytes, found_bytes });
    }
    Ok(())
}

/// Waits until every rank has come here.
pub(crate) fn barrier(rank: &mut SimulatedRank<'_>, costs: &RingCollectives) -> Result<()> {
    let last = rank.size() - 1;
    meet(rank, costs, tag(BARRIER, 0), last)
}

/// A token goes around once to gather all, and once more to release them; `last` is released last. So whoever waits for
/// data of `last` is ready when it begins.
fn meet(
    rank: &mut SimulatedRank<'_>,
    costs: &RingCollectives,
    tag: Tag,
    last: usize,
) -> Result<()> {
    let first = (last + 1) % rank.size();
    rank.work(costs.barrier_entry);
    if rank.rank() == first {
        pass(rank, tag, &TOKEN)?;
        take_token(rank, costs, tag)?;
        return pass(rank, tag, &TOKEN);
    }
    take_token(rank, costs, tag)?;
    pass(rank, tag, &TOKEN)?;
    take_token(rank, costs, tag)?;
    if rank.rank() == last { Ok(()) } else { pass(rank, tag, &TOKEN) }
}

fn take_token(rank: &mut SimulatedRank<'_>, costs: &RingCollectives, tag: Tag) -> Result<()> {
    let mut token = TOKEN;
    take(rank, "barrier", tag, &mut token)?;
    rank.work(costs.barrier_hop);
    Ok(())
}

/// Copies `buffer` of rank `root` to all, packet after packet around the ring: while a node passes one on, the next
/// comes in.
pub(crate) fn broadcast(
    rank: &mut SimulatedRank<'_>,
    costs: &RingCollectives,
    root: usize,
    buffer: &mut [u8],
) -> Result<()> {
    contract::check_rank(root, rank.size())?;
    let tag = tag(BROADCAST, root);
    meet(rank, costs, tag, root)?;
    let last = (root + rank.size() - 1) % rank.size();
    // Without data there is still a message, so that ranks that disagree on the length meet.
    let count = buffer.len().div_ceil(PACKET_BYTES).max(1);
    for index in 0..count {
        let end = buffer.len().min((index + 1) * PACKET_BYTES);
        let packet = &mut buffer[index * PACKET_BYTES..end];
        if rank.rank() == root {
            if index > 0 {
                rank.work(costs.packet);
            }
            pass(rank, tag, packet)?;
            continue;
        }
        take(rank, "broadcast", tag, packet)?;
        if rank.rank() != last {
            rank.work(costs.forward);
            pass(rank, tag, packet)?;
        }
    }
    Ok(())
}

/// Puts `send` of rank r into block r of `receive` of every rank: the rank's own block is copied there first.
pub(crate) fn allgather(
    rank: &mut SimulatedRank<'_>,
    costs: &RingCollectives,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    let expected_bytes = rank.size() * send.len();
    if receive.len() != expected_bytes {
        let (collective, found_bytes) = ("allgather", receive.len());
        let what = "`receive`".into();
        return Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes });
    }
    rank.compute(Work::new(WorkKind::CopyBytes, send.len() as u64), &mut || {});
    receive[rank.rank() * send.len()..][..send.len()].copy_from_slice(send);
    rotate(rank, costs, receive)
}

/// Copies block r of rank r's `buffer` into block r of every rank's.
pub(crate) fn allgather_in_place(
    rank: &mut SimulatedRank<'_>,
    costs: &RingCollectives,
    buffer: &mut [u8],
) -> Result<()> {
    let broken = buffer.len() % rank.size();
    if broken != 0 {
        return Err(Error::UnequalCounts {
            collective: "allgather",
            what: "`buffer` in blocks of one a rank".into(),
            expected_bytes: buffer.len() - broken,
            found_bytes: buffer.len(),
        });
    }
    rotate(rank, costs, buffer)
}

/// Every node passes on what it took last, all at the same time.
fn rotate(rank: &mut SimulatedRank<'_>, costs: &RingCollectives, buffer: &mut [u8]) -> Result<()> {
    let (number, size) = (rank.rank(), rank.size());
    let tag = tag(ALLGATHER, 0);
    rank.work(costs.allgather_entry);
    meet(rank, costs, tag, size - 1)?;
    let bytes = buffer.len() / size;
    for step in 0..size - 1 {
        rank.work(costs.allgather_step);
        let (old, new) = ((number + size - step) % size, (number + size - step - 1) % size);
        let right = neighbours(rank).right;
        let sending = rank.begin_bare_send(right, tag, &buffer[old * bytes..][..bytes])?;
        take(rank, "allgather", tag, &mut buffer[new * bytes..][..bytes])?;
        rank.end_bare_send(sending)?;
    }
    Ok(())
}
