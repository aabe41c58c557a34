//! Reduce.

use super::LONG_BYTES;
use super::blocks::charge_copy;
use super::call::{Call, Kind};
use super::combine::Combining;
use crate::{Rank, Reduction, Result};

/// Combines `send` of all ranks into `receive` at rank `root`.
///
/// Short ones go up a binomial tree. Long ones are reduced by recursive halving, after which each rank of the core has
/// one finished part, and gathered (Rabenseifner 2004): all ranks combine at once, each byte passes a rank about twice.
/// Which operand comes first depends on the places alone, so the same input gives the same bits again.
pub fn reduce<R: Rank + ?Sized>(
    machine: &mut R,
    root: usize,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    reduce_by(machine, root, reduction, send, receive, send.len() >= LONG_BYTES)
}

/// The same, by the algorithm for long or for short ones.
pub(super) fn reduce_by<R: Rank + ?Sized>(
    machine: &mut R,
    root: usize,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
    long: bool,
) -> Result<()> {
    let kind = if long { Kind::LongReduce } else { Kind::Reduce };
    let call = Call::rooted(kind, root, machine.size())?.reducing(reduction);
    call.expect_multiple("`send` in whole elements", reduction.element.bytes(), send)?;
    let mut combining = Combining::new(machine, call, reduction, root);
    let mut scratch = Vec::new();
    charge_copy(machine, send.len());
    let vector = if combining.place == 0 {
        call.expect_bytes("`receive` at the root", send.len(), receive)?;
        receive.copy_from_slice(send);
        receive
    } else {
        scratch.extend_from_slice(send);
        &mut scratch[..]
    };
    if !combining.fold(machine, vector)? {
        return Ok(());
    }
    if long {
        halve_and_gather(machine, combining, vector)
    } else {
        climb(machine, combining, vector)
    }
}

/// Up the binomial tree: in step k the places with bit k set, which have all from above them, give it to their parents.
fn climb<R: Rank + ?Sized>(
    machine: &mut R,
    mut combining: Combining,
    vector: &mut [u8],
) -> Result<()> {
    for level in 0..combining.core().ilog2() {
        let other = combining.place ^ (1 << level);
        if other < combining.place {
            return combining.call.send(machine, combining.rank_at(other), vector);
        }
        combining.receive_and_combine(machine, other, vector)?;
    }
    Ok(())
}

/// The first step has the same partners as the tree's, so that ranks that disagree on the length meet.
fn halve_and_gather<R: Rank + ?Sized>(
    machine: &mut R,
    mut combining: Combining,
    vector: &mut [u8],
) -> Result<()> {
    let steps = combining.halve(machine, vector)?;
    for step in steps.into_iter().rev() {
        let partner = combining.rank_at(step.partner);
        if step.partner < combining.place {
            return combining.call.send(machine, partner, &vector[step.keep]);
        }
        combining.call.receive(machine, partner, &mut vector[step.away])?;
    }
    Ok(())
}
