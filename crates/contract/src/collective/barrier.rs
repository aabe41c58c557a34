//! Barrier.

use super::call::{Call, Kind};
use super::{after, before};
use crate::{Rank, Result};

/// Waits until every rank has come here, by dissemination (Hensgen, Finkel and Manber 1988): in step k each rank tells
/// the one 2^k after it, so that after log2 P steps, rounded up, each has heard of all.
pub fn barrier<R: Rank + ?Sized>(machine: &mut R) -> Result<()> {
    let call = Call::new(Kind::Barrier);
    let (rank, size) = (machine.rank(), machine.size());
    let mut distance = 1;
    while distance < size {
        let (to, from) = (after(rank, distance, size), before(rank, distance, size));
        call.exchange(machine, (to, &[]), (from, &mut []))?;
        distance *= 2;
    }
    Ok(())
}
