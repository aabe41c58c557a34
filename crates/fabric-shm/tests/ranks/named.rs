//! Runs named tests in order and prints results in the format of `cargo test`.

use std::time::Instant;

/// A named test.
pub(crate) struct Test {
    name: String,
    body: Box<dyn FnOnce() -> Result<(), String>>,
}

impl Test {
    pub(crate) fn new(
        name: impl Into<String>,
        body: impl FnOnce() -> Result<(), String> + 'static,
    ) -> Self {
        Test { name: name.into(), body: Box::new(body) }
    }
}

/// Runs the tests that the command line selects, each while it holds what `watch` returns for its name. Returns the
/// exit status.
pub(crate) fn run<W>(tests: Vec<Test>, watch: impl Fn(&str) -> W) -> i32 {
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
