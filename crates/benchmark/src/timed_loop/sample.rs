//! The samples of one chunk: the innermost loop.

use contract::{Rank, Result};

use super::control::Order;
use super::start::{LATE, Part};

/// Takes the samples of a chunk; leaves what this rank has to keep, in picoseconds, at the beginning of `times`.
pub(super) fn take<E>(
    rank: &mut dyn Rank,
    pair: (usize, usize),
    part: Part,
    order: Order,
    times: &mut [u64],
    event: &mut E,
) -> Result<()>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    match part {
        Part::Waits => Ok(()),
        Part::Follows => run(rank, order.samples as u64 * (order.untimed + order.events), event),
        part => {
            for slot in &mut times[..order.samples] {
                run(rank, order.untimed, event)?;
                let (begin, late) = order.start.align(rank, pair)?;
                run(rank, order.events, event)?;
                let end = rank.now();
                *slot = match part {
                    Part::Begins => begin.as_ps(),
                    Part::Ends => end.as_ps(),
                    _ if late => LATE,
                    _ => end.since(begin).as_ps(),
                };
            }
            Ok(())
        }
    }
}

#[inline]
fn run<E>(rank: &mut dyn Rank, events: u64, event: &mut E) -> Result<()>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    for _ in 0..events {
        event(rank)?;
    }
    Ok(())
}
