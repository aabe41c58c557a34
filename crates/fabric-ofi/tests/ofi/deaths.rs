//! Tests ranks that die while others wait: the run ends soon and names the dead rank, on one host and on several.

use launcher::LaunchError;

use crate::harness::{Test, check_leaver, launch_and_gather, one_dies};
use crate::job::{REMOTE, options};
use crate::started::{self, gather};

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
                let test =
                    Test::new(name, move || a_rank_dies(ranks, provider, &case, words, several));
                // How the rank ends is the same to the starter of several hosts.
                tests.push(if several && end != "kill" { test.long() } else { test });
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
    let job = format!("{provider}\n{case}").into_bytes();
    let hosts = format!("localhost:1\n127.0.0.1:{ranks}");
    gather(&started::options(&hosts, ranks, REMOTE, job))
}

fn a_rank_dies(
    ranks: usize,
    provider: &str,
    case: &str,
    words: &str,
    several: bool,
) -> Result<(), String> {
    one_dies(ranks, words, || match several {
        true => start_and_gather(ranks, provider, case),
        false => launch_and_gather(&options(ranks, provider, case)),
    })
}

fn a_rank_leaves(provider: &str, wait: &str) -> Result<(), String> {
    let case = format!("deaths {wait}-leaves");
    let (ended, _) = launch_and_gather(&options(3, provider, &case));
    check_leaver(&ended)
}
