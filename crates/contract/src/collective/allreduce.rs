//! Allreduce.

use super::LONG_BYTES;
use super::blocks::{charge_copy, two_parts};
use super::call::{Call, Kind};
use super::combine::Combining;
use crate::{Rank, Reduction, Result};

/// Combines `send` of all ranks into `receive` of all ranks: the same bits on each.
///
/// Short ones by recursive doubling, in which both partners compute the same result from the same operands in the same
/// order. Long ones by recursive halving, each part combined at one rank, and recursive doubling to spread the parts
/// (Rabenseifner 2004). Ranks beyond the largest power of two give their operand first and get the result last.
pub fn allreduce<R: Rank + ?Sized>(
    machine: &mut R,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
) -> Result<()> {
    allreduce_by(machine, reduction, send, receive, send.len() >= LONG_BYTES)
}

/// The same, by the algorithm for long or for short ones.
pub(super) fn allreduce_by<R: Rank + ?Sized>(
    machine: &mut R,
    reduction: Reduction,
    send: &[u8],
    receive: &mut [u8],
    long: bool,
) -> Result<()> {
    let call =
        Call::new(if long { Kind::LongAllreduce } else { Kind::Allreduce }).reducing(reduction);
    call.expect_multiple("`send` in whole elements", reduction.element.bytes(), send)?;
    call.expect_bytes("`receive`", send.len(), receive)?;
    charge_copy(machine, send.len());
    receive.copy_from_slice(send);

    let mut combining = Combining::new(machine, call, reduction, 0);
    let (place, core) = (combining.place, combining.core());
    if !combining.fold(machine, receive)? {
        return call.receive(machine, combining.rank_at(place - core), receive);
    }
    if long {
        halve_and_spread(machine, &mut combining, receive)?;
    } else {
        double(machine, &mut combining, receive)?;
    }
    if place + core < machine.size() {
        call.send(machine, combining.rank_at(place + core), receive)?;
    }
    Ok(())
}

fn double<R: Rank + ?Sized>(
    machine: &mut R,
    combining: &mut Combining,
    vector: &mut [u8],
) -> Result<()> {
    for level in 0..combining.core().ilog2() {
        let all = 0..vector.len();
        let partner = combining.place ^ (1 << level);
        combining.exchange_and_combine(machine, partner, vector, all.clone(), all)?;
    }
    Ok(())
}

fn halve_and_spread<R: Rank + ?Sized>(
    machine: &mut R,
    combining: &mut Combining,
    vector: &mut [u8],
) -> Result<()> {
    let steps = combining.halve(machine, vector)?;
    for step in steps.into_iter().rev() {
        let partner = combining.rank_at(step.partner);
        let (send, receive) = two_parts(vector, step.keep, step.away);
        combining.call.exchange(machine, (partner, send), (partner, receive))?;
    }
    Ok(())
}
