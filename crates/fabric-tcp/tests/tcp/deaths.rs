//! Deaths of ranks while others wait: everything ends soon and the right rank is named, on one host and on several.

use std::time::{Duration, Instant};

use contract::conformance::deaths::nobody_is_left;
use fabric_shm::LaunchError;

use crate::harness::{Test, check, launch_and_gather};
use crate::job::options;
use crate::several_hosts::start_and_gather;

/// Calls in which the surviving ranks wait when one dies.
const WAITS: [&str; 4] = ["receive", "any", "send", "barrier"];
/// The guarantee is one second; the test machine may be busy with other work.
const SOON: Duration = Duration::from_secs(30);

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
                tests.push(Test::new(name, move || a_rank_dies(ranks, wait, end, words, several)));
            }
        }
    }
    for wait in ["receive", "send", "barrier"] {
        let name = format!("deaths/a-rank-leaves-others-waiting-in-{wait}");
        tests.push(Test::new(name, move || a_rank_leaves(wait)));
    }
    tests
}

fn a_rank_dies(
    ranks: usize,
    wait: &str,
    end: &str,
    words: &str,
    several: bool,
) -> std::result::Result<(), String> {
    let begin = Instant::now();
    let case = format!("deaths {wait}-{end}");
    let (ended, reports) = if several {
        start_and_gather(ranks, &case)
    } else {
        launch_and_gather(&options(ranks, &case))
    };
    let Err(LaunchError::RankFailed { rank: 1, reason, .. }) = &ended else {
        return Err(format!("expected the failure of rank 1, not {ended:?}"));
    };
    check(reason.contains(words), || format!("{words:?} is not in {reason:?}"))?;
    check(begin.elapsed() < SOON, || format!("it took {:?}", begin.elapsed()))?;
    check(reports.len() == ranks, || format!("{} reports", reports.len()))?;
    nobody_is_left(&reports)
}

fn a_rank_leaves(wait: &str) -> std::result::Result<(), String> {
    let (ended, _) = launch_and_gather(&options(3, &format!("deaths {wait}-leaves")));
    let Err(LaunchError::RankFailed { reason, .. }) = &ended else {
        return Err(format!("expected a failure, not {ended:?}"));
    };
    let named = reason.contains("rank 1 ") && reason.contains("its program ended");
    check(named, || format!("{reason:?} does not say that rank 1 has ended"))
}
