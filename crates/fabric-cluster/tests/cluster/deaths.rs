//! Ranks that die while others wait, on their host and on another: all ends soon, with the right rank named.

use std::process::Command;
use std::time::{Duration, Instant};

use contract::{Buffer, Error, Rank, Result, Source, Tag, TagSelector};
use fabric_shm::LaunchError;
use fabric_tcp::Reporter;

use crate::harness::{Test, check};
use crate::job::start_and_gather;

const TAG: Tag = Tag::new(3);
/// The promise is two seconds; the tests' machine may be busy with other things.
const SOON: Duration = Duration::from_secs(30);
const RANKS: usize = 6;

/// `WAIT-END`: rank 1 ends as END says while the others wait as WAIT says; rank 2 is on its host, the others are not.
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
        _ => Err(Error::Program("a wrong result, on purpose".into())),
    }
}

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (end, words, status) in
        [("kill", "SIGKILL", 137), ("exit", "status 7", 7), ("error", "on purpose", 1)]
    {
        for wait in ["receive", "any", "send", "barrier"] {
            let name = format!("deaths/{end}-while-others-wait-in-{wait}");
            tests.push(Test::new(name, move || a_rank_dies(wait, end, words, status)));
        }
    }
    tests
}

fn a_rank_dies(
    wait: &str,
    end: &str,
    words: &str,
    expected: u8,
) -> std::result::Result<(), String> {
    let begin = Instant::now();
    let (ended, reports) = start_and_gather(RANKS, &format!("deaths {wait}-{end}"));
    let Err(LaunchError::RankFailed { rank: 1, reason, status }) = &ended else {
        return Err(format!("expected the failure of rank 1, not {ended:?}"));
    };
    check(reason.contains(words), || format!("{words:?} is not in {reason:?}"))?;
    check(*status == expected, || format!("status {status}"))?;
    check(begin.elapsed() < SOON, || format!("it took {:?}", begin.elapsed()))?;
    check(reports.len() == RANKS, || format!("{} reports", reports.len()))?;
    for process in reports {
        let process = String::from_utf8_lossy(&process).into_owned();
        let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
        let alive = state.is_ok_and(|state| !state.contains(") Z "));
        check(!alive, || format!("process {process} is left"))?;
    }
    Ok(())
}
