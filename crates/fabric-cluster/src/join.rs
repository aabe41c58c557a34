//! Joining of a run by a rank that the process of its host has started.

use contract::{Error, Process, Result};
use fabric_tcp::{HostPart, RankOfHost, remote};
use launcher::Seat;

use crate::ClusterEndpoint;
use crate::contexts::Contexts;
use crate::outer::{Outer, OuterFabric};
use crate::parts::{Inner, Outside};
use crate::places::Places;
use crate::requests::Twins;

/// First line of the job of a rank of a cluster. A line with the outer fabric and the lines of [`HostPart::job`] follow.
const MARK: &str = "cornerstone-cluster-2\n";
/// The outer fabric in its line. The provider of libfabric may follow after a colon.
const TCP: &str = "tcp";
const OFI: &str = "ofi";

/// Returns the job with which the process of a host starts its ranks.
pub fn job_of(host: &HostPart, outer: &OuterFabric) -> Vec<u8> {
    let outer = match outer {
        OuterFabric::Tcp => format!("{TCP}\n"),
        OuterFabric::Ofi { provider: None } => format!("{OFI}\n"),
        OuterFabric::Ofi { provider: Some(name) } => format!("{OFI}:{name}\n"),
    };
    [MARK.as_bytes(), outer.as_bytes(), &host.job()].concat()
}

/// Returns whether a job is one of a rank of a cluster.
pub fn is_job(job: &[u8]) -> bool {
    job.starts_with(MARK.as_bytes())
}

/// The content of a job: how a rank joins.
#[derive(Debug, PartialEq, Eq)]
struct JobContent {
    rank: RankOfHost,
    outer: OuterFabric,
}

impl JobContent {
    /// Reads the lines after the first. Returns `None` if they have another form.
    fn parse(rest: &[u8]) -> Option<Self> {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let outer = match std::str::from_utf8(&rest[..end]).ok()?.split_once(':') {
            Some((OFI, name)) => OuterFabric::Ofi { provider: Some(name.into()) },
            None if &rest[..end] == OFI.as_bytes() => OuterFabric::Ofi { provider: None },
            None if &rest[..end] == TCP.as_bytes() => OuterFabric::Tcp,
            _ => return None,
        };
        Some(JobContent { rank: RankOfHost::in_job(&rest[end + 1..])?, outer })
    }
}

/// Returns the content of a job, or `None` if it is not one of a rank of a cluster.
fn parse_job(job: &[u8]) -> Option<Result<JobContent>> {
    let rest = job.strip_prefix(MARK.as_bytes())?;
    Some(JobContent::parse(rest).ok_or_else(|| Error::System {
        what: "joining the run on several hosts".into(),
        reason: "the process of this host is of another version".into(),
    }))
}

/// Joins the run as a rank that the process of its host has started with [`job_of`] as its job. Also returns the job of
/// the run.
///
/// # Errors
/// The failure, which whoever started the run also learns of.
pub fn join(seat: Seat) -> Result<(Process<ClusterEndpoint>, Vec<u8>)> {
    let content = parse_job(seat.job()).unwrap_or_else(|| {
        Err(Error::Program("this job is not one of a rank on several hosts".into()))
    });
    let (endpoint, job) = match content {
        Ok(content) => meet(seat, content, Inner::join)?,
        Err(error) => return Err(seat.give_up(error)),
    };
    Ok((Process::new(endpoint), job))
}

/// As [`join`], for a library in any program, if its launcher has selected this fabric. Returns the seat otherwise.
///
/// # Errors
/// As for [`join`].
pub fn join_from_library(seat: Seat) -> Result<std::result::Result<ClusterEndpoint, Seat>> {
    match parse_job(seat.job()) {
        None => Ok(Err(seat)),
        Some(Ok(content)) => {
            let (endpoint, ..) = meet(seat, content, Inner::join_library)?;
            Ok(Ok(endpoint))
        }
        Some(Err(error)) => Err(seat.give_up(error)),
    }
}

fn meet(
    seat: Seat,
    content: JobContent,
    join_inner: fn(Seat) -> Result<Inner>,
) -> Result<(ClusterEndpoint, Vec<u8>)> {
    let (host, here) = (content.rank.host(), content.rank.ranks.clone());
    let (mut outer, job, hosts) = match join_all(&content, seat.rank()) {
        Ok(joined) => joined,
        Err(error) => return Err(seat.give_up(error)),
    };
    let mut inner = match join_inner(seat) {
        Ok(inner) => inner,
        Err(error) => {
            outer.close(Err(error.clone()));
            return Err(error);
        }
    };
    inner.name_ranks(here.clone());
    inner.expect_outside();
    inner.set_every_rank_has_a_processor(outer.every_rank_has_a_processor());
    match outer.descriptor() {
        Ok(descriptor) => inner.seat_mut().wake_by(descriptor),
        Err(error) => {
            outer.close(Err(error.clone()));
            return Err(inner.seat().give_up(error));
        }
    }
    let rest = rest(outer, host, here, hosts);
    Ok((ClusterEndpoint::new(inner, rest), job))
}

/// Joins all ranks of the run, as this host's rank number `local`. Returns the outer fabric, the job of the run, and the
/// numbers of the hosts of all ranks.
fn join_all(content: &JobContent, local: usize) -> Result<(Outer, Vec<u8>, Vec<u16>)> {
    let RankOfHost { call, secret, .. } = &content.rank;
    let (mut tcp, job) = remote::join(*call, content.rank.rank(local)?, secret)?;
    let hosts = match tcp.exchange(&content.rank.host().to_le_bytes()) {
        Ok(hosts) => hosts,
        Err(error) => {
            tcp.finish(Err(error.clone()));
            return Err(error);
        }
    };
    let hosts = hosts.as_chunks::<2>().0.iter().map(|host| u16::from_le_bytes(*host)).collect();
    Ok((Outer::open(tcp, &content.outer)?, job, hosts))
}

fn rest(outer: Outer, host: u16, here: Vec<usize>, hosts: Vec<u16>) -> Outside {
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
    fn a_job_holds_the_outer_fabric_the_address_to_call_and_the_local_ranks() {
        let secret = Secret::from_bytes([7; 32]);
        let call = "10.0.0.1:77".parse().unwrap();
        let (ranks, task) = (vec![2, 5], String::new());
        let part = HostPart { call, ranks: ranks.clone(), secret: secret.clone(), task };
        let rank = RankOfHost { call, secret, ranks };
        let layered = OuterFabric::Ofi { provider: Some("tcp;ofi_rxm".into()) };
        for outer in [OuterFabric::Tcp, OuterFabric::Ofi { provider: None }, layered] {
            let job = job_of(&part, &outer);
            assert!(is_job(&job) && !is_job(b"cornerstone-tcp-1\n"));
            assert_eq!(parse_job(&job), Some(Ok(JobContent { rank: rank.clone(), outer })));
            assert!(parse_job(&job[..job.len() - 8]).unwrap().is_err());
        }
        assert_eq!(parse_job(b""), None);
        let pigeon = [MARK.as_bytes(), b"pigeon\n", &part.job()].concat();
        assert!(parse_job(&pigeon).unwrap().is_err());
    }
}
