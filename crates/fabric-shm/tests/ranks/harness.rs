//! Runs named tests in order and prints results in the format of `cargo test`.

use std::ops::ControlFlow;
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use fabric_shm::{LaunchError, LaunchOptions, launch};

/// Time limit of a test. No case takes a tenth of it, even on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The guarantee is one second, and two for several hosts; the test machine may be busy with other work.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A named test.
pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) body: Box<dyn FnOnce() -> Result<(), String>>,
}

impl Test {
    pub(crate) fn new(
        name: impl Into<String>,
        body: impl FnOnce() -> Result<(), String> + 'static,
    ) -> Self {
        Test { name: name.into(), body: Box::new(body) }
    }
}

/// Runs the tests that the command line selects, and returns the exit status.
pub(crate) fn run(tests: Vec<Test>) -> i32 {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let (mut passed, mut failures) = (0, Vec::new());
    let start = Instant::now();
    for test in tests {
        if !wanted.is_empty() && !wanted.iter().any(|word| test.name.contains(word.as_str())) {
            continue;
        }
        let watch = watch(&test.name);
        let outcome = (test.body)();
        drop(watch);
        println!("test {} ... {}", test.name, if outcome.is_ok() { "ok" } else { "FAILED" });
        match outcome {
            Ok(()) => passed += 1,
            Err(why) => failures.push((test.name, why)),
        }
    }
    for (name, why) in &failures {
        println!("\n---- {name} ----\n{why}");
    }
    let seconds = start.elapsed().as_secs_f64();
    let word = if failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {} failed; 0 ignored; finished in {seconds:.1} s",
        failures.len()
    );
    i32::from(!failures.is_empty())
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

/// Checks the end of a run whose rank 1 has left while others waited for it.
pub(crate) fn check_leaver(ended: &Result<(), LaunchError>) -> Result<(), String> {
    let Err(LaunchError::RankFailed { reason, .. }) = ended else {
        return Err(format!("expected a failure, not {ended:?}"));
    };
    let named = reason.contains("rank 1 ") && reason.contains("its program ended");
    check(named, || format!("{reason:?} does not say that rank 1 has ended"))
}
