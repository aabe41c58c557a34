//! Waiting for a moment of the rank's clock.

use contract::{Error, OperatingSystem, Rank, Result, Time, TimeSpan};

use super::Plan;
use super::method::Method;

/// Waits repeatedly. Returns the latencies at rank 0.
pub(super) fn measure(
    rank: &mut dyn Rank,
    system: &mut dyn OperatingSystem,
    method: Method,
    plan: &Plan,
) -> Result<Vec<TimeSpan>> {
    let mut late = Vec::with_capacity(plan.waits_max);
    if rank.rank() != 0 {
        return Ok(late);
    }
    let end = rank.now() + plan.duration;
    for length in plan.lengths().take(plan.waits_max) {
        let now = rank.now();
        if now >= end {
            break;
        }
        late.push(wait(rank, system, method, now + length)?);
    }
    Ok(late)
}

/// Waits until `moment`. Returns the latency.
fn wait(
    rank: &dyn Rank,
    system: &mut dyn OperatingSystem,
    method: Method,
    moment: Time,
) -> Result<TimeSpan> {
    loop {
        let now = rank.now();
        if now >= moment {
            return Ok(now.since(moment));
        }
        match method {
            Method::Yield => system.yield_processor(),
            // A signal may end a sleep early, and the clocks of rank and system may differ: the loop then sleeps for
            // the rest.
            Method::Sleep(call) => system.sleep(call, moment.since(now)).map_err(Error::Program)?,
            Method::Spin | Method::Receive => std::hint::spin_loop(),
        }
    }
}
