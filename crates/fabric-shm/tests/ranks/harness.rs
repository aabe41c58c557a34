//! Launches of ranks for tests, and the checks of how they end. Each test has a time limit.

#[path = "../../../fabric-shm/tests/ranks/named.rs"]
mod named;

use std::ops::ControlFlow;
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use conformance::deaths::nobody_is_left;
use launcher::{LaunchError, LaunchOptions, launch};

pub(crate) use named::Test;

/// Time limit of a test. No case takes a tenth of it, even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The guarantee is one second, and two for several hosts; the test machine may be busy with other work.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// Runs the tests that the command line selects, each with a time limit, and returns the exit status.
pub(crate) fn run(tests: Vec<Test>) -> i32 {
    named::run(tests, watch)
}

/// Ends this process, and its ranks with it, if the test does not end in time.
fn watch(name: &str) -> Sender<()> {
    let (done, ended) = channel();
    let name = name.to_owned();
    std::thread::spawn(move || {
        if ended.recv_timeout(TIME_LIMIT) == Err(RecvTimeoutError::Timeout) {
            println!("test {name} ... FAILED: it hangs");
            exit(1);
        }
    });
    done
}

/// Launches a job and collects the reports.
pub(crate) fn launch_and_gather(
    options: &LaunchOptions,
) -> (Result<(), LaunchError>, Vec<Vec<u8>>) {
    let mut reports = Vec::new();
    let ended = launch(options, &mut |report| {
        reports.push(report.to_vec());
        ControlFlow::Continue(())
    });
    (ended, reports)
}

/// Returns the error `why` unless `holds`.
pub(crate) fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Checks the end of a run that began at `begin`, whose rank 1 has died in a way of which `words` tell.
pub(crate) fn check_death(
    ended: &Result<(), LaunchError>,
    words: &str,
    begin: Instant,
) -> Result<(), String> {
    let Err(LaunchError::RankFailed { rank: 1, reason, .. }) = ended else {
        return Err(format!("expected the failure of rank 1, not {ended:?}"));
    };
    check(reason.contains(words), || format!("{words:?} is not in {reason:?}"))?;
    check(begin.elapsed() < SOON, || format!("it took {:?}", begin.elapsed()))
}

/// Checks a run in which rank 1 of `ranks` dies in a way of which `words` tell, after each has reported its process.
pub(crate) fn one_dies(
    ranks: usize,
    words: &str,
    start: impl FnOnce() -> (Result<(), LaunchError>, Vec<Vec<u8>>),
) -> Result<(), String> {
    let begin = Instant::now();
    let (ended, reports) = start();
    check_death(&ended, words, begin)?;
    check(reports.len() == ranks, || format!("{} reports", reports.len()))?;
    nobody_is_left(&reports)
}

/// Checks the end of a run whose rank 1 has left while others waited for it.
pub(crate) fn check_leaver(ended: &Result<(), LaunchError>) -> Result<(), String> {
    let Err(LaunchError::RankFailed { reason, .. }) = ended else {
        return Err(format!("expected a failure, not {ended:?}"));
    };
    let named = reason.contains("rank 1 ") && reason.contains("ended its part");
    check(named, || format!("{reason:?} does not say that rank 1 has ended"))
}
