//! Joining: a process detects that its fabric is in the launcher.

use std::os::fd::RawFd;

use contract::{Error, Result};
use launcher::Seat;
use launcher::system::inherited;

use crate::ProxyEndpoint;
use crate::caller::Caller;
use crate::line::Line;

/// Beginning of a job of such a run. The descriptor of the memory, the factor of measured computing, and the name of
/// the fabric follow.
const MARK: &str = "cornerstone-proxy-1\n";

/// The launcher's message to the processes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub(crate) memory: RawFd,
    /// Factor of measured computing; `None` if processes need not report their computing time.
    pub(crate) factor: Option<f64>,
    /// Name of the fabric.
    pub(crate) name: String,
}

impl Job {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let factor = self.factor.map_or("-".into(), |factor| factor.to_string());
        format!("{MARK}{} {factor} {}", self.memory, self.name).into_bytes()
    }

    /// Reads a job. Returns `None` if it belongs to another fabric.
    fn read(bytes: &[u8]) -> Option<std::result::Result<Self, String>> {
        let rest = std::str::from_utf8(bytes).ok()?.strip_prefix(MARK)?;
        let mut words = rest.splitn(3, ' ');
        let memory = words.next().and_then(|word| word.parse().ok()).filter(|&fd| fd > 2);
        let factor = words.next().and_then(|word| match word {
            "-" => Some(None),
            _ => word.parse().ok().map(Some),
        });
        Some(match (memory, factor, words.next()) {
            (Some(memory), Some(factor), Some(name)) => {
                Ok(Job { memory, factor, name: name.into() })
            }
            _ => Err(format!("the launcher gave the job {rest:?}, which is of another version")),
        })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_as_it_was_written_and_others_are_told_apart() {
        for factor in [None, Some(1.0), Some(0.3)] {
            let job = Job { memory: 7, factor, name: "sim:a b".into() };
            assert_eq!(Job::read(&job.bytes()), Some(Ok(job)));
        }
        assert_eq!(Job::read(b""), None);
        assert_eq!(Job::read(b"cornerstone-tcp-1\n0123"), None);
        assert!(Job::read(format!("{MARK}1 1 x").as_bytes()).unwrap().is_err());
        assert!(Job::read(format!("{MARK}7").as_bytes()).unwrap().is_err());
    }
}
