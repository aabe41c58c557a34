//! Checks that the page on machine files names every field that is read from them.

use std::collections::BTreeSet;
use std::fs;

use crate::refuse;
use crate::sources::{Source, root, sources};

const PAGE: &str = "docs/simulation/machines.md";
const FOLDER: &str = "crates/fabric-sim/src/machine/file";

#[test]
fn every_field_of_machine_files_is_documented() {
    let page = fs::read_to_string(root().join(PAGE)).expect(PAGE);
    let documented = words_of_code(&page);
    let mut schemas = sources(FOLDER, &["rs"]);
    schemas.retain(|source| source.path.ends_with("schema.rs"));
    assert!(!schemas.is_empty(), "{FOLDER}: no schema");
    let mut offenders = Vec::new();
    for Source { path, text } in &schemas {
        for (line, field) in fields(text).filter(|(_, field)| !documented.contains(*field)) {
            let complaint = format!("{path}:{line}: {PAGE} does not name `{field}`");
            offenders.push((format!("{path}: {field}"), complaint));
        }
    }
    refuse("the fields of machine files are documented", &offenders, &[]);
}

/// Returns the names of fields, each with its line.
fn fields(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let (name, _) = line.trim_start().strip_prefix("pub(super) ")?.split_once(": ")?;
        name.bytes()
            .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
            .then_some((index + 1, name))
    })
}

/// Returns the words in backquotes and in blocks of code.
fn words_of_code(page: &str) -> BTreeSet<&str> {
    let blocks = page.split("```").enumerate();
    let code = blocks.flat_map(|(index, block)| {
        if index % 2 == 1 { vec![block] } else { block.split('`').skip(1).step_by(2).collect() }
    });
    code.flat_map(|code| {
        code.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric())
    })
    .collect()
}

#[test]
fn fields_and_words_of_code_are_found() {
    let text = "    pub(super) send_us: Option<f64>,\n    pub(super) fn a(b: u8) {}\n    #[serde(default)]\n";
    assert_eq!(fields(text).collect::<Vec<_>>(), [(1, "send_us")]);
    let page = "no `a_us`, `x.b_us`\n```toml\nc_us = 1 # d\n```\nno `e`\n";
    let words = words_of_code(page);
    assert!(["a_us", "b_us", "c_us", "e"].iter().all(|word| words.contains(word)), "{words:?}");
    assert!(!words.contains("no"), "{words:?}");
}
