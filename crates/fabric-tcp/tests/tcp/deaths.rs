//! Ranks that die while others wait: everything ends soon, with the right rank named, on one host and on several.

use std::process::Command;
use std::time::{Duration, Instant};

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector};
use fabric_shm::LaunchError;
use fabric_tcp::Reporter;

use crate::harness::{Test, check, launch_and_gather};
use crate::job::options;
use crate::several_hosts::start_and_gather;

/// What the ranks that live on are waiting for when one dies.
const WAITS: [&str; 4] = ["receive", "any", "send", "barrier"];
const TAG: Tag = Tag::new(3);
/// The promise is a second; the tests' machine may be busy with other things.
const SOON: Duration = Duration::from_secs(30);

/// `WAIT-END`: rank 1 ends as END says while the others wait as WAIT says.
pub(crate) fn program(rank: &mut dyn Rank, reporter: &Reporter, name: &str) -> Result<()> {
    let (wait, end) = name.split_once('-').expect("a wait and an end");
    reporter.report(std::process::id().to_string().as_bytes())?;
    rank.barrier()?;
    if rank.rank() == 1 {
        std::thread::sleep(Duration::from_millis(50));
        return die(end);
    }
    let mut room = [0; 8];
    match wait {
        "receive" => rank.receive(Source::Rank(1), TAG.into(), &mut room).map(drop),
        "any" => rank.receive(Source::Any, TagSelector::Any, &mut room).map(drop),
        "send" => rank.send(1, TAG, &Buffer::zeroed(64 << 20)),
        _ => rank.barrier(),
    }
}

fn die(end: &str) -> Result<()> {
    match end {
        "kill" => {
            let own = std::process::id().to_string();
            let _ = Command::new("kill").args(["-KILL", &own]).status();
            Ok(())
        }
        "exit" => std::process::exit(7),
        "panic" => std::panic::resume_unwind(Box::new("on purpose")),
        "error" => Err(Error::Program("a wrong result, on purpose".into())),
        // Whoever started the run ends it.
        "sleeps" => {
            std::thread::sleep(Duration::from_secs(1000));
            Ok(())
        }
        _ => Ok(()),
    }
}

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
    for process in reports {
        let process = String::from_utf8_lossy(&process).into_owned();
        let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
        let alive = state.is_ok_and(|state| !state.contains(") Z "));
        check(!alive, || format!("process {process} is left"))?;
    }
    Ok(())
}

fn a_rank_leaves(wait: &str) -> std::result::Result<(), String> {
    let (ended, _) = launch_and_gather(&options(3, &format!("deaths {wait}-leaves")));
    let Err(LaunchError::RankFailed { reason, .. }) = &ended else {
        return Err(format!("expected a failure, not {ended:?}"));
    };
    let named = reason.contains("rank 1 ") && reason.contains("its program ended");
    check(named, || format!("{reason:?} does not say that rank 1 has ended"))
}
