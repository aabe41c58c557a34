//! The table of kinds of mistakes: each example is run, and must bring its kind with a line; the page is that of the table.

use std::path::{Path, PathBuf};

use cornerstone::mistakes::{Found, MistakeKind, all, page};
use serde_json::Value;

use crate::lab::Lab;
use crate::launching::{compile, library};

const PAGE: &str = "docs/mistakes.md";

/// Kinds whose message has no line: the program ends outside of a call.
const WITHOUT_LINE: [&str; 3] = ["crash", "no-finalize", "failed"];

#[test]
fn the_page_is_made_from_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if std::fs::read_to_string(root.join(PAGE)).unwrap_or_default() == page() {
        return;
    }
    let right: PathBuf = root.join("target/mistakes.md");
    std::fs::write(&right, page()).unwrap();
    panic!("{PAGE} is not that of the table: cp {} {PAGE}", right.display());
}

#[test]
fn names_are_different_and_what_ends_a_program_needs_no_option() {
    let mut names: Vec<&str> = all().map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().count());
    for kind in all() {
        assert_eq!(kind.goes_on(), kind.found != Found::Always, "{}", kind.name);
        assert_eq!(kind.messages.is_empty(), kind.example.is_empty(), "{}", kind.name);
        assert!(!kind.title.ends_with('.') && !kind.remedy.ends_with('.'), "{}", kind.name);
    }
}

/// Runs the example of a kind, and returns its findings.
fn findings(library: &Path, kind: &MistakeKind) -> Value {
    let lab = Lab::new();
    let program = compile(&lab, library, &kind.program());
    let mut words = vec!["launch", "-n", "2", "--check-report", "found.json"];
    words.extend(kind.found.option());
    words.push(program.to_str().unwrap());
    let ended = lab.run(&words);
    assert!(!matches!(ended.status, None | Some(0)), "{}: {ended:#?}", kind.name);
    if !kind.remedy.is_empty() && !kind.goes_on() {
        assert!(ended.stderr.contains("  hint: "), "{}: {ended:#?}", kind.name);
    }
    assert!(lab.becomes_empty());
    serde_json::from_str(&std::fs::read_to_string(lab.path("found.json")).unwrap()).unwrap()
}

#[test]
fn each_example_brings_its_message_with_a_line() {
    let Some(library) = library("the examples of mistakes") else { return };
    for kind in all().filter(|kind| !kind.example.is_empty()) {
        let report = findings(&library, kind);
        let found = report["findings"].as_array().unwrap();
        assert!(!found.is_empty(), "{}: {report:#}", kind.name);
        for one in found {
            assert_eq!(one["kind"], kind.name, "{report:#}");
            let message = one["message"].as_str().unwrap();
            assert!(kind.messages.contains(&message), "{}: {message}", kind.name);
            let sides = one["sides"].as_array().unwrap();
            let has_line = sides.iter().any(|side| {
                side["file"].as_str().is_some_and(|file| file.ends_with("/program.c"))
                    && side["line"].as_u64().is_some_and(|line| line > 5)
                    && side["function"] == "main"
            });
            assert_eq!(has_line, !WITHOUT_LINE.contains(&kind.name), "{}: {report:#}", kind.name);
        }
    }
}
