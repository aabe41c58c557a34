//! Ranks that die while others wait: the run ends soon and names the dead rank, on one host and on several.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use contract::conformance::deaths::nobody_is_left;
use fabric_shm::LaunchError;
use fabric_tcp::{Host, StartOptions, Starting, start};

use crate::harness::{Test, check, check_death, check_leaver, launch_and_gather};
use crate::job::{REMOTE, options};

pub(crate) fn tests(provider: &'static str) -> Vec<Test> {
    let mut tests = Vec::new();
    for (end, words) in
        [("kill", "signal 9"), ("exit", "status 7"), ("error", "a wrong result, on purpose")]
    {
        for wait in ["receive", "any", "send", "barrier"] {
            for several in [false, true] {
                let ranks = if wait == "receive" { 2 } else { 4 };
                let hosts = if several { "several-hosts" } else { "one-host" };
                let name =
                    format!("{provider}/deaths/{end}-while-others-wait-in-{wait}-on-{hosts}");
                let case = format!("deaths {wait}-{end}");
                tests.push(Test::new(name, move || {
                    a_rank_dies(ranks, provider, &case, words, several)
                }));
            }
        }
    }
    for wait in ["receive", "send", "barrier"] {
        let name = format!("{provider}/deaths/a-rank-leaves-others-waiting-in-{wait}");
        tests.push(Test::new(name, move || a_rank_leaves(provider, wait)));
    }
    for name in ["order/one-pair", "random/programs-of-everything"] {
        tests.push(Test::new(format!("{provider}/several-hosts/{name}"), move || {
            let (ended, _) = start_and_gather(4, provider, &format!("conformance {name}"));
            ended.map_err(|error| error.to_string())
        }));
    }
    tests
}

/// Starts ranks on two hosts that are both this one, and gathers their reports.
fn start_and_gather(
    ranks: usize,
    provider: &str,
    case: &str,
) -> (Result<(), LaunchError>, Vec<Vec<u8>>) {
    let options = StartOptions {
        hosts: Host::parse_all(&format!("localhost:1\n127.0.0.1:{ranks}")).expect("hosts"),
        ranks,
        agent: PathBuf::from("/nowhere/agent"),
        listen: None,
        starting: Starting::EachRank,
        program: PathBuf::from("/usr/bin/env"),
        arguments: vec![
            format!("{REMOTE}=1"),
            std::env::current_exe().expect("this program has a file").display().to_string(),
        ],
        processors: vec![None; ranks],
        job: format!("{provider}\n{case}").into_bytes(),
        reconnect: None,
    };
    let mut reports = Vec::new();
    let ended = start(&options, &mut || None, &mut |report| {
        reports.push(report.to_vec());
        ControlFlow::Continue(())
    });
    (ended, reports)
}

fn a_rank_dies(
    ranks: usize,
    provider: &str,
    case: &str,
    words: &str,
    several: bool,
) -> std::result::Result<(), String> {
    let begin = Instant::now();
    let (ended, reports) = match several {
        true => start_and_gather(ranks, provider, case),
        false => launch_and_gather(&options(ranks, provider, case)),
    };
    check_death(&ended, words, begin)?;
    check(reports.len() == ranks, || format!("{} reports", reports.len()))?;
    nobody_is_left(&reports)
}

fn a_rank_leaves(provider: &str, wait: &str) -> std::result::Result<(), String> {
    let case = format!("deaths {wait}-leaves");
    let (ended, _) = launch_and_gather(&options(3, provider, &case));
    check_leaver(&ended)
}
