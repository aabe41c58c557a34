//! Runs named tests and prints results in the format of `cargo test`.

use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// The most tests that run at once. They mostly wait for processes that start and end, but each has several ranks.
const AT_ONCE_MAX: usize = 4;

/// A named test.
pub(crate) struct Test {
    name: String,
    body: Box<dyn FnOnce() -> Result<(), String> + Send>,
}

impl Test {
    pub(crate) fn new(
        name: impl Into<String>,
        body: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Self {
        Test { name: name.into(), body: Box::new(body) }
    }
}

/// Runs the tests that the command line selects, one on each processor, each while it holds what `watch` returns for its
/// name. Returns the exit status.
pub(crate) fn run<W>(tests: Vec<Test>, watch: impl Fn(&str) -> W + Sync) -> i32 {
    let start = Instant::now();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| name.contains(word));
    let tests = Mutex::new(tests.into_iter().filter(|test| is_wanted(&test.name)));
    let outcomes = Mutex::new((0, Vec::new()));
    let work = || {
        loop {
            let next = tests.lock().expect("no test panics here").next();
            let Some(Test { name, body }) = next else { break };
            let watch = watch(&name);
            let outcome = body();
            drop(watch);
            println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
            let (passed, failures) = &mut *outcomes.lock().expect("no test panics here");
            match outcome {
                Ok(()) => *passed += 1,
                Err(why) => failures.push((name, why)),
            }
        }
    };
    let at_once = thread::available_parallelism().map_or(1, |count| count.get().min(AT_ONCE_MAX));
    thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
    drop(tests);
    let (passed, failures) = outcomes.into_inner().expect("no test panics here");
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
