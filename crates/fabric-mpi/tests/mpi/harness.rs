//! Launches programs with a time limit.

#[path = "../../../fabric-shm/tests/ranks/named.rs"]
mod named;

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fabric_mpi::Launcher;

use crate::programs::Program;
pub(crate) use named::Test;

/// Output and outcome of a launch.
pub(crate) struct Ended {
    pub(crate) ok: bool,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the tests that the command line selects, and returns the exit status. Launches have time limits of their own.
pub(crate) fn run(tests: Vec<Test>) -> i32 {
    named::run(tests, |_| ())
}

/// Starts `program` on `ranks` ranks and waits for its end. A program that does not end within `limit` is terminated
/// and has failed.
pub(crate) fn launch(
    launcher: &Launcher,
    ranks: usize,
    program: &Program,
    limit: Duration,
) -> Ended {
    let own = std::env::current_exe().expect("this program has a file");
    let mut command = launcher.command(ranks, &own, &[]);
    program.hand_to(&mut command, launcher);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the launcher starts");
    let out = drain(child.stdout.take().expect("piped"));
    let err = drain(child.stderr.take().expect("piped"));
    let ok = wait(&mut child, limit);
    let mut err = err.join().expect("reading cannot fail");
    if ok.is_none() {
        err.push_str("\nit did not end in time");
    }
    Ended { ok: ok.unwrap_or(false), out: out.join().expect("reading cannot fail"), err }
}

fn drain(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the child. Returns whether it succeeded; `None` if it had to be terminated.
fn wait(child: &mut Child, limit: Duration) -> Option<bool> {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => return Some(status.success()),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    fabric_mpi::launcher::end(child);
    None
}
