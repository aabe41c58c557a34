//! The samples of one chunk: the innermost loop.

use contract::{Buffer, Rank, Result};

use super::Plan;
use super::control::Order;
use super::start::{LATE, Part};

/// Takes the samples of a chunk; leaves what this rank has to keep, in picoseconds, at the beginning of `times`.
pub(super) fn take<E>(
    rank: &mut dyn Rank,
    plan: &Plan<'_>,
    order: &Order,
    times: &mut Buffer,
    event: &mut E,
) -> Result<()>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    let times = &mut times.elements_mut::<u64>()[..order.samples];
    match Part::of(plan.timing, rank.rank(), plan.pair) {
        Part::Waits => Ok(()),
        Part::Follows => run(rank, order.samples as u64 * order.events, event),
        part => {
            for slot in times {
                let (begin, late) = order.start.align(rank, plan.pair)?;
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
