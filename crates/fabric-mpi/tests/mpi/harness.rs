//! Launches programs with a time limit, and prints results in the format of `cargo test`.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fabric_mpi::Launcher;

use crate::programs::Program;

/// A named test.
pub(crate) struct Test {
    name: String,
    body: Box<dyn FnOnce() -> Result<(), String>>,
}

/// Output and outcome of a launch.
pub(crate) struct Ended {
    pub(crate) ok: bool,
    pub(crate) out: String,
    pub(crate) err: String,
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
        let outcome = (test.body)();
        println!("test {} ... {}", test.name, if outcome.is_ok() { "ok" } else { "FAILED" });
        match outcome {
            Ok(()) => passed += 1,
            Err(why) => failures.push((test.name, why)),
        }
    }
    for (name, why) in &failures {
        println!("\n---- {name} ----\n{why}");
    }
    let word = if failures.is_empty() { "ok" } else { "FAILED" };
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "\ntest result: {word}. {passed} passed; {} failed; 0 ignored; finished in {seconds:.1} s",
        failures.len()
    );
    i32::from(!failures.is_empty())
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

/// Waits for the child. Returns if it succeeded; `None` if it had to be terminated.
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
