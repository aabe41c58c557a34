//! Runs named tests and prints results in the format of `cargo test`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

/// The most tests that run at once. They mostly wait for processes that start and end, but each has several ranks.
const AT_ONCE_MAX: usize = 4;

/// The variable with the part of the tests that a process runs: its number and how many there are. A process can
/// launch one run at a time, so each part has its own.
const PART: &str = "CORNERSTONE_TEST_PART";

/// A named test.
pub(crate) struct Test {
    name: String,
    is_long: bool,
    body: Box<dyn FnOnce() -> Result<(), String>>,
}

impl Test {
    pub(crate) fn new(
        name: impl Into<String>,
        body: impl FnOnce() -> Result<(), String> + 'static,
    ) -> Self {
        Test { name: name.into(), is_long: false, body: Box::new(body) }
    }

    /// Makes this a test that is ignored, unless `--ignored` asks for those alone, as in programs of `cargo test`.
    pub(crate) fn long(self) -> Self {
        Test { is_long: true, ..self }
    }
}

/// Runs the tests that the command line selects, a part of them on each processor, each while it holds what `watch`
/// returns for its name. Returns the exit status.
pub(crate) fn run<W>(tests: Vec<Test>, watch: impl Fn(&str) -> W) -> i32 {
    let start = Instant::now();
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let is_named = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let (long, short): (Vec<Test>, Vec<Test>) =
        tests.into_iter().filter(|test| is_named(&test.name)).partition(|test| test.is_long);
    let wants_long = options.iter().any(|option| option == "--ignored");
    let (tests, ignored) = if wants_long { (long, 0) } else { (short, long.len()) };
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    let at_once = processors.min(AT_ONCE_MAX).min(tests.len());
    let own = own_part();
    let (passed, failed) = match own {
        Some((part, parts)) => run_here(tests.into_iter().skip(part).step_by(parts), watch),
        None if at_once < 2 => run_here(tests.into_iter(), watch),
        None => run_in_parts(at_once),
    };
    let seconds = start.elapsed().as_secs_f64();
    let word = if failed == 0 { "ok" } else { "FAILED" };
    // Whoever has started a part counts for all.
    if own.is_none() {
        println!(
            "\ntest result: {word}. {passed} passed; {failed} failed; {ignored} ignored; finished in {seconds:.1} s"
        );
    }
    i32::from(failed > 0)
}

fn own_part() -> Option<(usize, usize)> {
    let words = std::env::var(PART).ok()?;
    let (part, parts) = words.split_once(' ')?;
    Some((part.parse().ok()?, parts.parse().ok()?))
}

/// Runs the tests one after the other, and returns how many have passed and failed.
fn run_here<W>(tests: impl Iterator<Item = Test>, watch: impl Fn(&str) -> W) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    for Test { name, body, .. } in tests {
        let watch = watch(&name);
        let outcome = body();
        drop(watch);
        match outcome {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Err(why) => {
                failed += 1;
                println!("---- {name} ----\n{why}\ntest {name} ... FAILED");
            }
        }
    }
    (passed, failed)
}

/// Runs a part of the tests in each of so many processes, prints what they print, and counts the results. A part that
/// ends before its tests have is a failure, too.
fn run_in_parts(parts: usize) -> (usize, usize) {
    let counts = thread::scope(|scope| {
        let started: Vec<_> = (0..parts)
            .map(|part| {
                let child = start_part(part, parts);
                scope.spawn(move || follow(child))
            })
            .collect();
        started.into_iter().map(|one| one.join().expect("it does not panic")).collect::<Vec<_>>()
    });
    counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn start_part(part: usize, parts: usize) -> Child {
    let program = std::env::current_exe().expect("this program has a path");
    Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(PART, format!("{part} {parts}"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again")
}

fn follow(mut child: Child) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
    for line in output.lines().map_while(Result::ok) {
        passed += usize::from(line.starts_with("test ") && line.ends_with(" ... ok"));
        failed += usize::from(line.starts_with("test ") && line.contains(" ... FAILED"));
        println!("{line}");
    }
    let status = child.wait().expect("it was started here");
    if !status.success() && failed == 0 {
        println!("a process with a part of the tests has ended with {status}");
        failed = 1;
    }
    (passed, failed)
}
