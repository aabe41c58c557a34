//! Joining of a run by a rank that the process of its host has started.

use contract::{Endpoint, Error, Process, Result};
use fabric_shm::{ShmEndpoint, ShmProcess};
use fabric_tcp::{HostPart, RankOfHost, TcpEndpoint, remote};

use crate::ClusterEndpoint;
use crate::contexts::Contexts;
use crate::parts::Outside;
use crate::places::Places;
use crate::requests::Twins;

/// First line of the job of a rank of a cluster. A line each with the address to call, the secret and the host's ranks
/// follows.
const MARK: &str = "cornerstone-cluster-1\n";

/// Returns the job with which the process of a host starts its ranks.
pub fn job_of(host: &HostPart) -> Vec<u8> {
    [MARK.as_bytes(), &host.job()].concat()
}

/// Returns whether a job is one of a rank of a cluster.
pub fn is_job(job: &[u8]) -> bool {
    job.starts_with(MARK.as_bytes())
}

/// Returns the content of a job, or `None` if it is not one of a rank of a cluster.
fn parse_job(job: &[u8]) -> Option<Result<RankOfHost>> {
    let rest = job.strip_prefix(MARK.as_bytes())?;
    Some(RankOfHost::in_job(rest).ok_or_else(|| Error::System {
        what: "joining the run on several hosts".into(),
        reason: "the process of this host is of another version".into(),
    }))
}

/// Joins the run as a rank that the process of its host has started with [`job_of`] as its job. Also returns the job of
/// the run.
///
/// # Errors
/// The failure, which whoever started the run also learns of.
pub fn join(local: ShmProcess) -> Result<(Process<ClusterEndpoint>, Vec<u8>)> {
    let inner = local.into_endpoint();
    let content = parse_job(inner.job()).unwrap_or_else(|| {
        Err(Error::Program("this job is not one of a rank on several hosts".into()))
    });
    let (endpoint, job) = match content {
        Ok(content) => meet(inner, content)?,
        Err(error) => return Err(give_up(inner, error)),
    };
    Ok((Process::new(endpoint), job))
}

/// As [`join`], for a library in any program, if its launcher has selected this fabric. Returns the rank otherwise.
///
/// # Errors
/// As for [`join`].
pub fn join_from_library(
    inner: ShmEndpoint,
) -> Result<std::result::Result<ClusterEndpoint, ShmEndpoint>> {
    match parse_job(inner.job()) {
        None => Ok(Err(inner)),
        Some(Ok(content)) => {
            let (endpoint, ..) = meet(inner, content)?;
            Ok(Ok(endpoint))
        }
        Some(Err(error)) => Err(give_up(inner, error)),
    }
}

/// Ends a rank that cannot join.
fn give_up(inner: ShmEndpoint, error: Error) -> Error {
    inner.finish(Err(error.clone()));
    error
}

fn meet(mut inner: ShmEndpoint, content: RankOfHost) -> Result<(ClusterEndpoint, Vec<u8>)> {
    let host = content.host();
    let joined = content.rank(inner.rank()).and_then(|rank| {
        remote::join_and_tell(content.call, rank, &content.secret, &host.to_le_bytes())
    });
    let (mut outer, job, hosts) = match joined {
        Ok(joined) => joined,
        Err(error) => return Err(give_up(inner, error)),
    };
    inner.name_ranks(content.ranks.clone());
    inner.expect_outside();
    inner.set_every_rank_has_a_processor(outer.every_rank_has_a_processor());
    match outer.descriptor() {
        Ok(descriptor) => inner.wake_by(descriptor),
        Err(error) => {
            outer.close(Err(error.clone()));
            return Err(give_up(inner, error));
        }
    }
    let hosts = hosts.as_chunks::<2>().0.iter().map(|host| u16::from_le_bytes(*host)).collect();
    let rest = rest(outer, host, content.ranks, hosts);
    Ok((ClusterEndpoint::new(inner, rest), job))
}

fn rest(outer: TcpEndpoint, host: u16, here: Vec<usize>, hosts: Vec<u16>) -> Outside {
    let places = Places::new(here, hosts);
    Outside {
        contexts: Contexts::new(places.are_all_here()),
        outer,
        places,
        host,
        twins: Twins::default(),
        outer_first: false,
        polls: 0,
        has_left: false,
    }
}

#[cfg(test)]
mod tests {
    use fabric_tcp::Secret;

    use super::*;

    #[test]
    fn a_job_holds_the_address_to_call_and_the_local_ranks() {
        let secret = Secret::from_bytes([7; 32]);
        let call = "10.0.0.1:77".parse().unwrap();
        let (ranks, task) = (vec![2, 5], String::new());
        let job = job_of(&HostPart { call, ranks: ranks.clone(), secret: secret.clone(), task });
        assert!(is_job(&job) && !is_job(b"cornerstone-tcp-1\n"));
        assert_eq!(parse_job(&job), Some(Ok(RankOfHost { call, secret, ranks })));
        assert_eq!(parse_job(b""), None);
        assert!(parse_job(&job[..job.len() - 8]).unwrap().is_err());
    }
}
