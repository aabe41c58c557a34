//! Deaths of ranks and launchers, and interrupts by users: everything ends soon, with a message, and nothing is left.

use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use conformance::deaths::nobody_is_left;
use fabric_shm::launch_options;
use launcher::launch;

use crate::harness::{SOON, Test, check, check_leaver, launch_and_gather, one_dies};

/// Calls in which the surviving ranks wait when one dies.
const WAITS: [&str; 6] = ["receive", "any", "send", "barrier", "allreduce", "busy"];
/// Set in a process that only launches, and is then killed or interrupted.
const LAUNCHER_VARIABLE: &str = "FABRIC_SHM_TEST_LAUNCHER";

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    let ends = [
        ("kill", "SIGKILL"),
        ("abort", "SIGABRT"),
        ("exit", "status 7"),
        ("exit0", "without finishing"),
        ("panic", "panicked"),
        ("error", "a wrong result, on purpose"),
    ];
    // Forty ranks arrive at collectives in groups.
    let of_many = |wait: &str, end: &str| {
        matches!(wait, "barrier" | "allreduce") && matches!(end, "kill" | "exit0" | "error")
    };
    for ranks in [2, 3, 8, 40] {
        for wait in WAITS {
            for (end, words) in ends.into_iter().filter(|(end, _)| ranks < 40 || of_many(wait, end))
            {
                let name = format!("deaths/{end}-while-others-wait-in-{wait}-at-{ranks}");
                let case = format!("deaths {wait}-{end}");
                tests.push(Test::new(name, move || a_rank_dies(ranks, &case, words)));
            }
        }
        for wait in ["receive", "send", "barrier"] {
            let name = format!("deaths/a-rank-leaves-others-waiting-in-{wait}-at-{ranks}");
            tests.push(Test::new(name, move || a_rank_leaves(ranks, wait)));
        }
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        for wait in ["barrier", "busy"] {
            let name = format!("deaths/launcher-gets-signal-{signal}-while-ranks-are-in-{wait}");
            tests.push(Test::new(name, move || launcher_reports(signal, wait)));
        }
    }
    for wait in ["barrier", "busy"] {
        let name = format!("deaths/launcher-is-killed-while-ranks-are-in-{wait}");
        tests.push(Test::new(name, move || launcher_reports(libc::SIGKILL, wait)));
    }
    tests
}

fn a_rank_dies(ranks: usize, case: &str, words: &str) -> Result<(), String> {
    one_dies(ranks, words, || launch_and_gather(&launch_options(ranks, case.into())))
}

fn a_rank_leaves(ranks: usize, wait: &str) -> Result<(), String> {
    let options = launch_options(ranks, format!("deaths {wait}-leaves").into());
    let (ended, _) = launch_and_gather(&options);
    check_leaver(&ended)
}

/// Returns the case that this process must launch, if it was started for one.
pub(crate) fn launcher_case() -> Option<String> {
    std::env::var(LAUNCHER_VARIABLE).ok()
}

/// Launches a case, prints the ranks' process identifiers, and ends with the text of the error.
pub(crate) fn be_a_launcher(case: &str) -> i32 {
    let options = launch_options(3, format!("deaths {case}").into());
    let ended = launch(&options, &mut |report| {
        println!("{}", String::from_utf8_lossy(report));
        ControlFlow::Continue(())
    });
    match ended {
        Ok(()) => 0,
        Err(error) => {
            println!("{error}");
            3
        }
    }
}

fn launcher_reports(signal: i32, wait: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // Where the tests were started with a signal ignored (by `nohup`, or in the background of a shell), so it
    // would be here.
    let mut launcher = Command::new("env")
        .arg("--default-signal=HUP,INT,TERM")
        .arg(program)
        .env(LAUNCHER_VARIABLE, format!("{wait}-never"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = launcher.stdout.take().ok_or("no output")?;
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let processes: Vec<String> = lines.by_ref().take(3).collect();
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    // SAFETY: our own child, which we have not waited for, so the number is still its own.
    unsafe { libc::kill(launcher.id() as libc::pid_t, signal) };
    let words: Vec<String> = lines.collect();
    let status = launcher.wait().map_err(|error| error.to_string())?;
    check(start.elapsed() < SOON, || format!("it took {:?}", start.elapsed()))?;
    check(processes.len() == 3, || format!("{processes:?}"))?;
    let processes: Vec<Vec<u8>> = processes.into_iter().map(String::into_bytes).collect();
    if signal == libc::SIGKILL {
        check(status.signal() == Some(signal), || format!("{status}"))?;
        // The kernel kills its ranks a moment later; that it never does is found by the time limit of a test.
        while nobody_is_left(&processes).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        return Ok(());
    }
    check(status.code() == Some(3), || format!("{status}"))?;
    check(words.concat().contains("interrupted by signal"), || format!("{words:?}"))?;
    nobody_is_left(&processes)
}
