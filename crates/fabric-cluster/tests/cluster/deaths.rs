//! Ranks that die while others wait, on their host and on another: the run ends soon, with the right rank named.

use std::time::Instant;

use conformance::deaths::nobody_is_left;
use launcher::LaunchError;

use crate::harness::{Test, check, check_death};
use crate::job::start_and_gather;

/// Rank 2 is on the host of rank 1, which dies; the others are not.
const RANKS: usize = 6;

pub(crate) fn tests(group: &str, provider: Option<&'static str>) -> Vec<Test> {
    let mut tests = Vec::new();
    for (end, words, status) in
        [("kill", "SIGKILL", 137), ("exit", "status 7", 7), ("error", "on purpose", 1)]
    {
        for wait in ["receive", "any", "send", "barrier"] {
            let name = format!("{group}deaths/{end}-while-others-wait-in-{wait}");
            let test = Test::new(name, move || a_rank_dies(provider, wait, end, words, status));
            // How the rank ends is the same to the fabric between the hosts.
            tests.push(if provider.is_some() && end != "kill" { test.long() } else { test });
        }
    }
    tests
}

fn a_rank_dies(
    provider: Option<&str>,
    wait: &str,
    end: &str,
    words: &str,
    expected: u8,
) -> std::result::Result<(), String> {
    let begin = Instant::now();
    let (ended, reports) = start_and_gather(provider, RANKS, &format!("deaths {wait}-{end}"));
    check_death(&ended, words, begin)?;
    let is_expected =
        matches!(ended, Err(LaunchError::RankFailed { status, .. }) if status == expected);
    check(is_expected, || format!("status {expected} is expected, not {ended:?}"))?;
    check(reports.len() == RANKS, || format!("{} reports", reports.len()))?;
    nobody_is_left(&reports)
}
