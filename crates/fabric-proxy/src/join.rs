//! Joining: a process detects that its fabric is in the launcher.

use contract::{Error, Result};
use launcher::Seat;
use launcher::system::inherited;

use crate::ProxyEndpoint;
use crate::caller::Caller;
use crate::wire::job::Job;
use crate::wire::line::Line;

/// Joins the run if the launcher has the fabric. Otherwise returns the seat, as the inner error.
///
/// # Errors
/// The failure, which has also been reported to the launcher.
pub fn join(seat: Seat) -> Result<std::result::Result<ProxyEndpoint, Seat>> {
    let Some(job) = Job::read(seat.job()) else { return Ok(Err(seat)) };
    let (rank, size) = (seat.rank(), seat.size());
    let failed = |reason: String| Error::System { what: "joining the simulation".into(), reason };
    let line = job.and_then(|job| {
        // SAFETY: the launcher opened this descriptor for its ranks, and nothing else in this process uses its number.
        let memory = unsafe { inherited(job.memory) }?;
        let line =
            Line::open(&memory, rank, size).map_err(|error| format!("mapping memory: {error}"))?;
        Ok((line, job))
    });
    match line.map_err(failed) {
        Ok((line, job)) => {
            let caller = Caller::new(line, job.factor, Some(seat));
            let mut endpoint = ProxyEndpoint::join(caller, rank, size, job.name)?;
            endpoint.measure_returning()?;
            endpoint.set_clock();
            Ok(Ok(endpoint))
        }
        Err(error) => Err(seat.give_up(error)),
    }
}

/// Joins over `line` in the process of the machine itself, where computing is not measured. Tests of both ends do.
///
/// # Errors
/// If the run has failed.
pub fn join_line(line: Line, rank: usize, size: usize) -> Result<ProxyEndpoint> {
    ProxyEndpoint::join(Caller::new(line, None, None), rank, size, "sim:test".into())
}
