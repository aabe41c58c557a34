//! Joining of a run by a rank that the process of its host has started.

use std::collections::BTreeMap;

use contract::{Endpoint, Error, FabricDescription, Process, Result};
use engine::MessageEngine;
use fabric_shm::{HostCollectives, Purpose, ShmEndpoint};
use fabric_tcp::{HostPart, RankOfHost, TcpProcess, remote};
use hosts::{Clock, Placement};
use launcher::Seat;

use crate::ClusterEndpoint;
use crate::contexts::Contexts;
use crate::outer::{Outer, OuterFabric};
use crate::places::Places;
use crate::routes::Routes;

/// What the provider does for windows. Those of a cluster use messages between hosts.
const UNUSED_DETAIL: &str = "windows";

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
        Ok(content) => meet(seat, content, Purpose::Program)?,
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
            let (endpoint, ..) = meet(seat, content, Purpose::Library)?;
            Ok(Ok(endpoint))
        }
        Some(Err(error)) => Err(seat.give_up(error)),
    }
}

fn meet(seat: Seat, content: JobContent, purpose: Purpose) -> Result<(ClusterEndpoint, Vec<u8>)> {
    let (host, here) = (content.rank.host(), content.rank.ranks.clone());
    let (tcp, job, hosts) = match join_all(&content, seat.rank()) {
        Ok(joined) => joined,
        Err(error) => return Err(seat.give_up(error)),
    };
    let between = match BetweenHosts::open(tcp, &content.outer) {
        Ok(between) => between,
        Err(error) => return Err(seat.give_up(error)),
    };
    let inside = match ShmEndpoint::join_as(seat, purpose) {
        Ok(inside) => inside,
        Err(error) => {
            between.engine.into_transport().close(Err(error.clone()));
            return Err(error);
        }
    };
    let places = Places::new(&here, hosts);
    let joined = compose(between, (inside, purpose), places, (host, &here))?;
    Ok((joined, job))
}

/// Joins all ranks of the run over TCP, as this host's rank number `local`. Returns the job of the run and the numbers of
/// the hosts of all ranks, too.
fn join_all(content: &JobContent, local: usize) -> Result<(TcpProcess, Vec<u8>, Vec<u16>)> {
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
    Ok((tcp, job, hosts))
}

/// A rank that has joined all others, over the transport between hosts.
struct BetweenHosts {
    engine: MessageEngine<Outer>,
    placement: Placement,
    clock: Clock,
    description: FabricDescription,
}

impl BetweenHosts {
    /// Makes a rank that has joined the run over TCP pass its messages over `fabric`.
    fn open(tcp: TcpProcess, fabric: &OuterFabric) -> Result<Self> {
        match fabric {
            OuterFabric::Tcp => {
                let endpoint = tcp.into_endpoint();
                let description = endpoint.describe();
                let (engine, placement, clock) = endpoint.into_parts();
                let engine = engine.with_transport(Outer::Tcp);
                Ok(BetweenHosts { engine, placement, clock, description })
            }
            OuterFabric::Ofi { provider } => {
                let endpoint = fabric_ofi::join(tcp, provider.as_deref())?.into_endpoint();
                let mut description = endpoint.describe();
                description.details.remove(UNUSED_DETAIL);
                let (engine, placement, clock) = endpoint.into_parts();
                let engine = engine.with_transport(Outer::Ofi);
                Ok(BetweenHosts { engine, placement, clock, description })
            }
        }
    }
}

/// Puts both parts of a rank together.
fn compose(
    between: BetweenHosts,
    (inside, purpose): (ShmEndpoint, Purpose),
    places: Places,
    (host, here): (u16, &[usize]),
) -> Result<ClusterEndpoint> {
    let BetweenHosts { mut engine, placement, clock, description } = between;
    let with = |details: BTreeMap<String, String>, side: &'static str| {
        details.into_iter().map(move |(name, value)| (format!("{side}: {name}"), value))
    };
    let details = with(inside.describe().details, "in a host");
    let description = FabricDescription {
        name: "cluster".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        details: details.chain(with(description.details, "between hosts")).collect(),
        ..FabricDescription::default()
    };
    let mut rings = inside.into_rings();
    rings.be_of_run(here, engine.transport().size());
    // Ranks of another launch may use some of this host's processors.
    rings.set_own_processor(placement.every_rank_has_a_processor);
    match engine.transport_mut().descriptor() {
        Ok(descriptor) => rings.seat_mut().wake_by(descriptor),
        Err(error) => {
            engine.into_transport().close(Err(error.clone()));
            return Err(rings.seat().give_up(error));
        }
    }
    let collectives = HostCollectives::new(&rings, purpose);
    let contexts = Contexts::new(places.are_all_here());
    let engine = engine.with_transport(|outer| Routes::new(rings, outer, places));
    Ok(ClusterEndpoint { engine, collectives, contexts, host, placement, clock, description })
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
