//! Checks that the crates which may contain `unsafe` are those that `docs/architecture.md` lists.

use std::collections::BTreeSet;
use std::fs;

use crate::refuse;
use crate::sources::{crates, root};

const DECLARED_IN: &str = "docs/architecture.md";
const INVARIANT: &str = "* **Only these crates contain `unsafe`.**";
/// Stands in the root module of every other crate.
const FORBIDDEN: &str = "#![forbid(unsafe_code)]";

#[test]
fn crates_that_may_contain_unsafe_code_are_listed() {
    let text = fs::read_to_string(root().join(DECLARED_IN)).expect(DECLARED_IN);
    let listed = listed(&text);
    assert!(!listed.is_empty(), "{DECLARED_IN}: no list after \"{INVARIANT}\"");
    let mut offenders = Vec::new();
    for name in crates() {
        let folder = root().join("crates").join(&name).join("src");
        let roots = ["lib.rs", "main.rs"].map(|file| fs::read_to_string(folder.join(file)));
        let forbids = roots.iter().flatten().any(|text| text.lines().any(|line| line == FORBIDDEN));
        let complaint = match (forbids, listed.contains(name.as_str())) {
            (false, false) => format!("{name}: has no `{FORBIDDEN}`, and is not listed"),
            (true, true) => format!("{name}: forbids unsafe code; remove it from {DECLARED_IN}"),
            _ => continue,
        };
        offenders.push((name, complaint));
    }
    refuse("crates forbid unsafe code, or the architecture lists them", &offenders, &[]);
}

/// Returns the words in backquotes in the item of the invariant. Some are names of modules.
fn listed(text: &str) -> BTreeSet<&str> {
    let item = text.split_once(INVARIANT).map_or("", |(_, after)| after);
    let item = item.split("\n* ").next().unwrap_or("");
    item.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_list_ends_with_its_item() {
    let text = "* a `b`\n* **Only these crates contain `unsafe`.** `c`, in\n  `d`.\n* `e`\n";
    assert_eq!(listed(text), BTreeSet::from(["c", "d"]));
}
