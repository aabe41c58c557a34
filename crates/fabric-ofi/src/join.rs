//! Joins a run, over the connections of `fabric-tcp`, through which the ranks exchange their addresses.

use contract::{Error, Process, Result};
use engine::Transport;
use fabric_tcp::{HostPart, RankOfHost, Secret, TcpProcess, local, remote};
use launcher::Seat;

use crate::OfiEndpoint;
use crate::endpoint::description;
use crate::objects::{ADDRESS_BYTES, Objects, other_provider};
use crate::provider::Provider;
use crate::transport::{Libfabric, RankOnHost};

/// The first line of a job of a run on this host. The secret and the name of the provider, if there is one, follow.
const MARK: &[u8] = b"cornerstone-ofi-1\n";
/// The first line of a job of a rank that the process of a host starts. A line with the name of the provider and the
/// lines of [`HostPart::job`] follow.
const HOST_MARK: &[u8] = b"cornerstone-ofi-host-1\n";
/// Length of a provider's name that ranks exchange, in bytes.
const NAME_BYTES: usize = 64;

/// Returns the job of ranks of this host that pass their messages over `provider`, or over the first that libfabric
/// offers.
pub fn job(secret: &Secret, provider: Option<&str>) -> Vec<u8> {
    [MARK, secret.as_bytes(), provider.unwrap_or_default().as_bytes()].concat()
}

/// Returns such a job for ranks that the process of a host starts.
pub fn host_job(host: &HostPart, provider: Option<&str>) -> Vec<u8> {
    let provider = format!("{}\n", provider.unwrap_or_default());
    [HOST_MARK, provider.as_bytes(), &host.job()].concat()
}

/// The content of a job: the way in which a rank joins.
#[derive(Debug, PartialEq, Eq)]
enum JobContent {
    Here { secret: Secret, provider: String },
    Host { rank: RankOfHost, provider: String },
}

/// Returns the content of a job, or `None` if it is not one of this fabric.
fn parse_job(job: &[u8]) -> Option<Result<JobContent>> {
    let bad = || Error::System {
        what: "joining the run over libfabric".into(),
        reason: "the process that has started this rank is of another version".into(),
    };
    if let Some(rest) = job.strip_prefix(HOST_MARK) {
        let end = rest.iter().position(|&byte| byte == b'\n');
        let read = end.and_then(|end| {
            let provider = String::from_utf8(rest[..end].to_vec()).ok()?;
            Some(JobContent::Host { rank: RankOfHost::in_job(&rest[end + 1..])?, provider })
        });
        return Some(read.ok_or_else(bad));
    }
    let rest = job.strip_prefix(MARK)?;
    let read = rest.split_first_chunk().and_then(|(secret, name)| {
        let provider = String::from_utf8(name.to_vec()).ok()?;
        Some(JobContent::Here { secret: Secret::from_bytes(*secret), provider })
    });
    Some(read.ok_or_else(bad))
}

/// Makes a rank that has joined its run over TCP pass its messages over `provider` of libfabric, or over the first
/// available one. All ranks must call it with the same provider.
///
/// # Errors
/// If the provider cannot be used. The process that started the run is informed.
pub fn join(tcp: TcpProcess, provider: Option<&str>) -> Result<Process<OfiEndpoint>> {
    meet(tcp, provider, None).map(Process::new)
}

/// Joins as a library in any program, if the job is one of this fabric. Returns the seat otherwise.
///
/// # Errors
/// As of [`join`].
pub fn join_from_library(seat: Seat) -> Result<std::result::Result<OfiEndpoint, Seat>> {
    let named = |name: String| Some(name).filter(|name| !name.is_empty());
    match parse_job(seat.job()) {
        None => Ok(Err(seat)),
        Some(Err(error)) => Err(seat.give_up(error)),
        Some(Ok(JobContent::Here { secret, provider })) => {
            let tcp = local::join(seat, &secret)?;
            meet(tcp, named(provider).as_deref(), None).map(Ok)
        }
        Some(Ok(JobContent::Host { rank: content, provider })) => {
            let joined = content
                .rank(seat.rank())
                .and_then(|rank| remote::join(content.call, rank, &content.secret));
            match joined {
                Ok((tcp, _)) => {
                    let host = content.host();
                    let here = RankOnHost { seat, host, hosts: Vec::new() };
                    meet(tcp, named(provider).as_deref(), Some(here)).map(Ok)
                }
                Err(error) => Err(seat.give_up(error)),
            }
        }
    }
}

/// Opens an endpoint of libfabric, and exchanges the addresses of all ranks.
fn meet(
    mut tcp: TcpProcess,
    provider: Option<&str>,
    mut launched: Option<RankOnHost>,
) -> Result<OfiEndpoint> {
    let objects = match open(&mut tcp, provider, &mut launched) {
        Ok(objects) => objects,
        Err(error) => {
            tcp.finish(Err(error.clone()));
            return Err(launched.map_or(error.clone(), |launched| launched.seat.give_up(error)));
        }
    };
    let description = description(&objects);
    let (engine, placement, clock) = tcp.into_endpoint().into_parts();
    let rank = engine.rank();
    let next = |connections| Libfabric::begin(objects, rank, connections, launched);
    match engine.try_with_transport(next) {
        Ok(engine) => Ok(OfiEndpoint::new(engine, placement, clock, description)),
        Err(parts) => {
            let (error, connections, launched) = *parts;
            connections.close(Err(error.clone()));
            Err(launched.map_or(error.clone(), |launched| launched.seat.give_up(error)))
        }
    }
}

fn open(
    tcp: &mut TcpProcess,
    provider: Option<&str>,
    launched: &mut Option<RankOnHost>,
) -> Result<Objects> {
    let mut objects = Objects::open(Provider::find(provider)?)?;
    let mut name = [0; NAME_BYTES];
    let own = objects.provider.name.as_bytes();
    let length = own.len().min(NAME_BYTES);
    name[..length].copy_from_slice(&own[..length]);
    let host = launched.as_ref().map_or(0, |here| here.host);
    let word = [&name[..], &objects.address()?[..], &host.to_le_bytes()].concat();
    let words = tcp.exchange(&word)?;
    let mut addresses = Vec::new();
    let mut hosts = Vec::new();
    for (rank, word) in words.chunks_exact(word.len()).enumerate() {
        let (theirs, rest) = word.split_at(NAME_BYTES);
        let (address, host) = rest.split_at(ADDRESS_BYTES);
        hosts.push(u16::from_le_bytes([host[0], host[1]]));
        if theirs != name {
            let theirs = String::from_utf8_lossy(theirs);
            return Err(other_provider(&objects.provider, rank, theirs.trim_end_matches('\0')));
        }
        let mut padded = [0; ADDRESS_BYTES];
        padded.copy_from_slice(address);
        addresses.push(padded);
    }
    launched.iter_mut().for_each(|here| here.hosts.clone_from(&hosts));
    objects.know(&addresses)?;
    // No rank may send before all have the addresses of all.
    contract::Rank::barrier(&mut tcp.world())?;
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_tells_the_provider_and_how_to_join() {
        let secret = Secret::from_bytes([7; 32]);
        let here =
            |provider: &str| JobContent::Here { secret: secret.clone(), provider: provider.into() };
        assert_eq!(parse_job(&job(&secret, Some("verbs"))), Some(Ok(here("verbs"))));
        assert_eq!(parse_job(&job(&secret, None)), Some(Ok(here(""))));
        let call = "10.0.0.1:77".parse().unwrap();
        let (ranks, task) = (vec![2, 5], String::new());
        let part = HostPart { call, ranks: ranks.clone(), secret: secret.clone(), task };
        let rank = RankOfHost { call, secret: secret.clone(), ranks };
        let expected = JobContent::Host { rank, provider: "tcp".into() };
        assert_eq!(parse_job(&host_job(&part, Some("tcp"))), Some(Ok(expected)));
        assert!(parse_job(&job(&secret, None)[..30]).unwrap().is_err());
        assert_eq!((parse_job(b""), parse_job(b"cornerstone-tcp-1\n")), (None, None));
    }
}
