//! Starts of ranks on several hosts, all of which are this one. The tests of the fabrics over this one use it too.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fabric_tcp::{Host, Secret, StartOptions, Starting, start};
use launcher::LaunchError;

/// Returns the options with which this program is started again as each rank, or each host's process. `variable` is set
/// there.
pub(crate) fn options(hosts: &str, ranks: usize, variable: &str, job: Vec<u8>) -> StartOptions {
    StartOptions {
        hosts: Host::parse_all(hosts).expect("hosts"),
        ranks,
        agent: PathBuf::from("/nowhere/agent"),
        listen: None,
        starting: Starting::EachRank,
        program: PathBuf::from("/usr/bin/env"),
        arguments: vec![
            format!("{variable}=1"),
            std::env::current_exe().expect("this program has a file").display().to_string(),
        ],
        processors: vec![None; ranks],
        job,
        reconnect: None,
        interfaces: Vec::new(),
        watch: None,
    }
}

/// Starts the ranks and collects their reports.
pub(crate) fn gather(options: &StartOptions) -> (Result<(), LaunchError>, Vec<Vec<u8>>) {
    let mut reports = Vec::new();
    let ended = start(options, &mut || None, &mut |report| {
        reports.push(report.to_vec());
        ControlFlow::Continue(())
    });
    (ended, reports)
}

/// What a rank that was started so has to know in order to join.
pub(crate) struct Call {
    pub(crate) address: SocketAddr,
    pub(crate) rank: usize,
    pub(crate) processor: String,
    pub(crate) secret: Secret,
}

/// Returns what the starter has passed to this rank.
pub(crate) fn call() -> Call {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("standard input can be read");
    let secret = Secret::from_line(&line).expect("a secret comes first");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, rank, processor] = &arguments[..] else {
        panic!("an address, a rank and a processor")
    };
    Call {
        address: address.parse().expect("an address"),
        rank: rank.parse().expect("a rank"),
        processor: processor.clone(),
        secret,
    }
}
