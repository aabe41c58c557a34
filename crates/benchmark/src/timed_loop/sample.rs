//! The samples of one chunk: the innermost loop.

use contract::{Rank, Result};

use super::chunk::Chunk;
use super::start::{LATE, TimingRole};

/// Takes the samples of a chunk. Leaves the times of this rank, in picoseconds, at the beginning of `times`.
pub(super) fn take<E>(
    rank: &mut dyn Rank,
    pair: (usize, usize),
    role: TimingRole,
    chunk: Chunk,
    times: &mut [u64],
    event: &mut E,
) -> Result<()>
where
    E: FnMut(&mut dyn Rank) -> Result<()>,
{
    match role {
        TimingRole::Waits => Ok(()),
        TimingRole::Follows => {
            run(rank, chunk.samples as u64 * (chunk.untimed + chunk.events), event)
        }
        role => {
            for slot in &mut times[..chunk.samples] {
                run(rank, chunk.untimed, event)?;
                let (begin, late) = chunk.start.align(rank, pair, role)?;
                run(rank, chunk.events, event)?;
                let end = rank.now();
                *slot = match role {
                    TimingRole::Begins => begin.as_ps(),
                    TimingRole::Ends => end.as_ps(),
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
