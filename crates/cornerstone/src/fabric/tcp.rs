//! Benchmarks over TCP: on this host, or on the hosts of a file.

use std::io::BufRead;
use std::net::SocketAddr;
use std::process::ExitCode;

use benchmark::{Launch, Placement};
use contract::{Error, Result as RankResult};
use fabric_tcp::{Host, Secret, StartOptions, Starting, TcpProcess, UserSignal};
use launcher::{LaunchOptions, Seat};

use super::hosts::Hosts;
use super::job::{self, LaunchEnd, OnReport, RankJob};
use super::places::Draw;
use super::{local, ofi};
use crate::descriptors;
use crate::interruption::Interruption;
use crate::progress::note;

/// First argument of a process that is a rank on one of several hosts.
const RANK: &str = "--as-a-tcp-rank";

pub(super) const RANKS_MAX: usize = fabric_tcp::RANKS_MAX;

/// Runs the job of `launch` on `hosts`, or on this host. With `provider`, messages go over libfabric.
pub(super) fn run(
    launch: &Launch,
    hosts: Option<&Hosts>,
    provider: Option<String>,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    let Some(hosts) = hosts else {
        let secret = Secret::generate()
            .map_err(|error| LaunchEnd::Failed(format!("no random numbers: {error}")))?;
        let job = RankJob { secret: Some(secret.to_line()), provider, job: launch.job.clone() };
        return local::start(launch, LaunchOptions::new(launch.ranks, job.to_bytes()), on_report);
    };
    let program = std::env::current_exe().map_err(|error| {
        LaunchEnd::Failed(format!("this program's own file cannot be found: {error}"))
    })?;
    let draw = Draw::of(launch);
    let options = StartOptions {
        hosts: hosts.hosts.clone(),
        ranks: launch.ranks,
        agent: hosts.agent.clone(),
        listen: hosts.listen,
        reconnect: hosts.reconnect,
        interfaces: hosts.interfaces.clone(),
        watch: None,
        program,
        arguments: vec![RANK.into(), draw.map_or_else(|| "-".into(), Draw::to_word)],
        starting: Starting::EachRank,
        processors: processors(&hosts.hosts, launch.ranks, launch.placement),
        job: RankJob { secret: None, provider, job: launch.job.clone() }.to_bytes(),
    };
    let interruption = Interruption::watch();
    job::read_reports(on_report, |on_bytes| {
        fabric_tcp::start(&options, &mut || interruption.signal().map(UserSignal::End), on_bytes)
    })
}

/// Returns the processor of its host to which each rank is bound. Ranks of one host are bound to a processor each, in
/// turn. The only rank of a host is not bound, because several names of hosts may belong to one machine.
fn processors(hosts: &[Host], ranks: usize, placement: Placement) -> Vec<Option<usize>> {
    let places = fabric_tcp::places(hosts, ranks).unwrap_or_default();
    let of_one_node = (ranks / 2).max(1);
    let place = |rank: usize| {
        let here = |other: &usize| places[*other].name == places[rank].name;
        match placement {
            Placement::OneProcessor => Some(0),
            Placement::TwoProcessors => Some(usize::from(rank >= of_one_node && here(&0))),
            Placement::Spread | Placement::InOrder => {
                let before = (0..rank).filter(here).count();
                let alone = (0..places.len()).filter(here).count() == 1;
                (!alone).then_some(before)
            }
        }
    };
    (0..places.len()).map(place).collect()
}

/// Executes the part of a rank that the launcher has started on this host.
pub(super) fn serve_here(seat: Seat, job: &RankJob, secret: &str) -> i32 {
    let Some(secret) = Secret::from_line(secret) else {
        return seat.finish(Err(Error::Program("the job holds no secret".into())));
    };
    fabric_tcp::local::join(seat, &secret).map_or(1, |rank| execute(rank, job))
}

/// Executes a rank's part if an agent has started this process as a rank.
pub(super) fn serve() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != RANK {
        return None;
    }
    let draw = arguments.next();
    let address = arguments.next().and_then(|text| text.parse().ok());
    let rank = arguments.next().and_then(|text| text.parse().ok());
    let (Some(address), Some(rank), Some(processor)) = (address, rank, arguments.next()) else {
        note(&format!("cornerstone: error: {RANK} is for this program itself"));
        return Some(ExitCode::from(2));
    };
    descriptors::raise_limit();
    // A rank that is not bound can measure, but its times vary more.
    let dealt = draw.as_deref().and_then(Draw::from_word).map(Draw::processors);
    if let Err(error) = fabric_tcp::remote::bind(&processor, &dealt.unwrap_or_default()) {
        note(&format!("note: rank {rank}: {error}"));
    }
    let status = match join(address, rank) {
        Ok((tcp, job)) => execute(tcp, &job),
        // The process that started the run reports the reason.
        Err(Error::Aborted { .. }) => 1,
        Err(error) => {
            note(&format!("cornerstone: error: {error}"));
            1
        }
    };
    Some(ExitCode::from(u8::from(status != 0)))
}

fn join(address: SocketAddr, rank: usize) -> RankResult<(TcpProcess, RankJob)> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    let secret = read.ok().and_then(|_| Secret::from_line(&line)).ok_or_else(|| {
        Error::Program("no secret came on standard input; the agent must hand it on".into())
    })?;
    let (tcp, job) = fabric_tcp::remote::join(address, rank, &secret)?;
    match RankJob::from_bytes(&job) {
        Ok(read) => Ok((tcp, read)),
        Err(error) => {
            tcp.finish(Err(error.clone()));
            Err(error)
        }
    }
}

fn execute(mut tcp: TcpProcess, RankJob { provider, job, .. }: &RankJob) -> i32 {
    if let Some(provider) = provider {
        return ofi::execute(tcp, provider, job);
    }
    let reporter = tcp.reporter();
    let outcome = job::execute(&mut tcp.world(), job, &|bytes| reporter.report(bytes));
    tcp.finish(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_one_host_get_a_processor_each_and_nodes_one_together() {
        let hosts = Host::parse_all("alpha:3\nbeta:1\nalpha:2\n").unwrap();
        let of = |ranks, placement| processors(&hosts, ranks, placement);
        // The hosts of the ranks are alpha, alpha, alpha, beta, alpha, alpha.
        let spread = [Some(0), Some(1), Some(2), None, Some(3), Some(4)];
        assert_eq!(of(6, Placement::Spread), spread);
        assert_eq!(of(6, Placement::OneProcessor), [Some(0); 6]);
        // Both halves have ranks on alpha. The rank on beta is bound to the first processor of that host.
        let halves = [Some(0), Some(0), Some(0), Some(0), Some(1), Some(1)];
        assert_eq!(of(6, Placement::TwoProcessors), halves);
        assert_eq!(of(7, Placement::Spread), [], "there are no places for them");
    }
}
