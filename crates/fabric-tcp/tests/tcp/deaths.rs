//! Deaths of ranks while others wait: everything ends soon and the right rank is named, on one host and on several.

use crate::harness::{Test, check_leaver, launch_and_gather, one_dies};
use crate::job::options;
use crate::several_hosts::start_and_gather;

/// Calls in which the surviving ranks wait when one dies.
const WAITS: [&str; 4] = ["receive", "any", "send", "barrier"];

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (end, words) in [
        ("kill", "signal 9"),
        ("exit", "status 7"),
        ("panic", "panicked"),
        ("error", "a wrong result, on purpose"),
    ] {
        for wait in WAITS {
            for several in [false, true] {
                let ranks = if wait == "receive" { 2 } else { 4 };
                let hosts = if several { "several-hosts" } else { "one-host" };
                let name = format!("deaths/{end}-while-others-wait-in-{wait}-on-{hosts}");
                let case = format!("deaths {wait}-{end}");
                tests.push(Test::new(name, move || a_rank_dies(ranks, &case, words, several)));
            }
        }
    }
    for wait in ["receive", "send", "barrier"] {
        let name = format!("deaths/a-rank-leaves-others-waiting-in-{wait}");
        tests.push(Test::new(name, move || a_rank_leaves(wait)));
    }
    tests
}

fn a_rank_dies(ranks: usize, case: &str, words: &str, several: bool) -> Result<(), String> {
    one_dies(ranks, words, || match several {
        true => start_and_gather(ranks, case),
        false => launch_and_gather(&options(ranks, case)),
    })
}

fn a_rank_leaves(wait: &str) -> Result<(), String> {
    let (ended, _) = launch_and_gather(&options(3, &format!("deaths {wait}-leaves")));
    check_leaver(&ended)
}
