//! Tests the programs in `examples/`, as a reader runs them.

use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, skip, words};

/// Returns a Python that has pandas: of `.venv`, where `make test` installs it, or of the system.
fn python_with_pandas(root: &Path) -> Option<Command> {
    let candidates = [root.join(".venv/bin/python3"), "python3".into()];
    let has_pandas = |python: &&std::path::PathBuf| {
        Command::new(python)
            .args(["-c", "import pandas"])
            .output()
            .is_ok_and(|o| o.status.success())
    };
    candidates.iter().find(has_pandas).map(Command::new)
}

#[test]
fn pandas_keeps_cases_apart_that_differ_in_their_parameters() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(mut python) = python_with_pandas(&root) else {
        return skip("the example for pandas", "no python3 with pandas");
    };
    let lab = Lab::new();
    lab.succeed(&words(
        "run wake-up --only for=moment --only load=none --only idle=allowed --duration 20ms --out a.jsonl",
    ));
    let ended = python
        .arg(root.join("examples/results_in_pandas.py"))
        .arg(lab.path("a.jsonl"))
        .output()
        .unwrap();
    let (shown, errors) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{shown}{errors}");
    // One line for the latency and one for the worst of each.
    for method in ["spin", "yield", "futex", "clock-nanosleep", "epoll"] {
        let name = format!("by={method} for=moment idle=allowed load=none ");
        let lines = shown.lines().filter(|line| line.contains(&name) && !line.contains("launch"));
        assert_eq!(lines.count(), 2, "{method}: {shown}{errors}");
    }
}
