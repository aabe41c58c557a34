//! Collectives in time-independent traces. Those with equal blocks for all ranks are replayed as collectives. The
//! others become their messages, by the algorithm that our library selects.

use collectives::{Blocks, Call, Order, Own};

use super::super::rounds::{Round, rounds_of};
use super::Mistake;
use super::words::Words;
use crate::RecordedCollective;
use contract::TimeSpan;

/// The actions of a rank in a collective.
pub(super) enum Collective {
    Recorded(RecordedCollective),
    Messages(Vec<Round>),
}

/// Reads a collective, and the time that a rank computes after it. Returns `None` for another action.
pub(super) fn read(
    verb: &str,
    words: &Words<'_>,
    (me, size): (usize, usize),
) -> Result<Option<(Collective, TimeSpan)>, Mistake> {
    if let Some(found) = regular(verb, words, me)? {
        return Ok(Some(found));
    }
    let found = match irregular(verb, words, (me, size))? {
        Some(call) => Some((call, 1, TimeSpan::ZERO)),
        None => combining(verb, words, size)?,
    };
    Ok(found.map(|(call, unit_bytes, computed)| {
        let rounds = rounds_of(&call, Own::InInput, unit_bytes, (me, size));
        (Collective::Messages(rounds), computed)
    }))
}

/// Reads a collective with blocks of any lengths.
fn irregular(
    verb: &str,
    words: &Words<'_>,
    (me, size): (usize, usize),
) -> Result<Option<Call>, Mistake> {
    // The blocks of all ranks, and this rank's own, with the counts and the datatype at these places.
    let blocks = |at, type_at| -> Result<Blocks, Mistake> {
        let unit = words.element_bytes(type_at)?;
        Ok(Blocks::of_lengths(words.counts(at, size)?.into_iter().map(|count| count * unit)))
    };
    let own = |at, type_at| -> Result<Blocks, Mistake> {
        Ok(Blocks::of_lengths([words.count(at, "a count")? * words.element_bytes(type_at)?]))
    };
    let root = || words.partner(1 + size).map(|root| root.unwrap_or(0));
    Ok(Some(match verb {
        "gatherv" => {
            let root = root()?;
            let blocks = if root == me { blocks(1, 3 + size) } else { own(0, 2 + size) };
            Call::Gather { root, blocks: blocks? }
        }
        "scatterv" => {
            let root = root()?;
            let blocks = if root == me { blocks(0, 2 + size) } else { own(size, 3 + size) };
            Call::Scatter { root, blocks: blocks? }
        }
        "allgatherv" => Call::Allgather { blocks: blocks(1, 2 + size)? },
        "alltoallv" => {
            let (input, output) = (blocks(1, 2 + 2 * size)?, blocks(2 + size, 3 + 2 * size)?);
            Call::AllToAll { input, output }
        }
        _ => return Ok(None),
    }))
}

/// Reads a collective that combines elements. Returns the length of an element as well, and the time of combining.
fn combining(
    verb: &str,
    words: &Words<'_>,
    size: usize,
) -> Result<Option<(Call, usize, TimeSpan)>, Mistake> {
    Ok(match verb {
        "reducescatter" => {
            if words.given.len() < size + 2 {
                let why =
                    "counts are missing: SimGrid leaves out those of MPI_Reduce_scatter_block";
                return Err((words.line, why.into()));
            }
            let blocks = Blocks::of_lengths(words.counts(0, size)?);
            let call = Call::ReduceScatter { blocks, order: Order::Any };
            Some((call, words.element_bytes(1 + size)?, words.operations(size)?))
        }
        "scan" | "exscan" => {
            let (length, exclusive) = (words.count(0, "a length")?, verb == "exscan");
            let call = Call::Scan { length, exclusive };
            Some((call, words.element_bytes(2)?, words.operations(1)?))
        }
        _ => None,
    })
}

/// Reads a collective with equal blocks, and the time of combining.
fn regular(
    verb: &str,
    words: &Words<'_>,
    me: usize,
) -> Result<Option<(Collective, TimeSpan)>, Mistake> {
    use collectives::Collective::*;
    let (kind, root_at, operations_at) = match verb {
        "barrier" => (Barrier, None, None),
        "bcast" => (Broadcast, Some(1), None),
        "scatter" => (Scatter, Some(2), None),
        "gather" => (Gather, Some(2), None),
        "allgather" => (Allgather, None, None),
        "alltoall" => (AllToAll, None, None),
        "reduce" => (Reduce, Some(2), Some(1)),
        "allreduce" => (Allreduce, None, Some(1)),
        _ => return Ok(None),
    };
    // An old trace may leave out the root.
    let root_at = root_at.filter(|&at| at < words.given.len());
    let root = root_at.map_or(Ok(None), |at| words.partner(at))?.unwrap_or(0);
    let is_root = root == me;
    // A rank's count and datatype are at the same places as in MPI, those of sending or of receiving.
    let bytes = |count_at, type_at| words.bytes(count_at, type_at);
    let bytes = match kind {
        Barrier => 0,
        Scatter => if is_root { bytes(0, 3) } else { bytes(1, 4) }?,
        Gather => if is_root { bytes(1, 4) } else { bytes(0, 3) }?,
        Allgather | AllToAll => bytes(1, 3)?,
        Reduce => bytes(0, 3)?,
        _ => bytes(0, 2)?,
    };
    let computed = operations_at.map_or(Ok(TimeSpan::ZERO), |at| words.operations(at))?;
    Ok(Some((Collective::Recorded(RecordedCollective { kind, root, bytes }), computed)))
}
