//! Benchmarks and programs over libfabric. Their ranks are started in the same way as ranks over TCP.

use benchmark::Job;
use contract::{Error, Process};
use fabric_ofi::OfiEndpoint;
use fabric_tcp::TcpProcess;

use super::hosts::Hosts;
use super::job;
use crate::failure::Failure;

/// Refuses a run on this host that no rank could join. No rank has been started then. On other hosts the ranks check
/// this. A wrong provider on the command line is a mistake of the user, but a missing library is not.
pub(crate) fn check(hosts: Option<&Hosts>, provider: Option<&str>) -> Result<(), Failure> {
    if hosts.is_some() {
        return Ok(());
    }
    fabric_ofi::check(provider).map_err(|error| match error {
        Error::Unsupported { .. } if provider.is_some() => Failure::usage(error.to_string()),
        _ => Failure::failed(error.to_string()),
    })
}

/// Runs the part of a rank that has joined the run, and returns its exit status.
pub(super) fn execute(tcp: TcpProcess, provider: &str, job: &Job) -> i32 {
    let provider = Some(provider).filter(|name| !name.is_empty());
    let run = |mut rank: Process<OfiEndpoint>| {
        let reporter = rank.endpoint().transport().reporter();
        let outcome = job::execute(&mut rank.world(), job, &|bytes| reporter.report(bytes));
        rank.finish(outcome)
    };
    // The process that started the run reports the reason why a rank cannot join.
    fabric_ofi::join(tcp, provider).map_or(1, run)
}
