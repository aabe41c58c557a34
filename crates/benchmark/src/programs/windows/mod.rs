//! One-sided communication: puts to, gets from and updates of other ranks' memory.

pub(in crate::programs) mod compare_and_swap;
pub(in crate::programs) mod halo;
pub(in crate::programs) mod latencies;
pub(in crate::programs) mod notified_put;
mod opened;
pub(in crate::programs) mod random_access;
pub(in crate::programs) mod streams;

use contract::Result;

use crate::bench::Bench;
use crate::shape::Role;
use opened::{Opened, TimedAccess};

/// Times `access` of the first rank, while the second serves its requests.
fn between_two(bench: &mut Bench<'_>, access: TimedAccess) -> Result<()> {
    let program = bench.definition.program;
    let mut opened = Opened::new(bench, (access.bytes)(&bench.shape))?;
    (access.prepare)(&mut opened, bench)?;
    opened.window.fence(bench.rank)?;
    let requests = (access.requests)(&bench.shape);
    let served = opened.window.window().requests_served();
    let outcome = bench.sampled_as(program, |rank, data| {
        opened.events += 1;
        let wanted = served + requests * opened.events;
        match data.role {
            Role::First => (access.event)(&mut opened, rank, data),
            Role::Second if opened.window.serves((access.action)()) => {
                opened.window.serve(rank, wanted)
            }
            Role::Second => Ok(()),
            Role::Other => Ok(()),
        }
    })?;
    opened.window.fence(bench.rank)?;
    (access.check)(&mut opened, bench)?;
    opened.close(bench)?;
    let Some(outcome) = outcome else { return Ok(()) };
    (access.report)(bench, outcome)
}
