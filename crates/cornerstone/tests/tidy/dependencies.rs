//! Refuses dependencies between crates that `docs/architecture.md` does not permit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::refuse;
use crate::sources::{crates, root};

/// File with the permitted dependencies, and their heading.
const DECLARED_IN: &str = "docs/architecture.md";
const HEADING: &str = "## Crates";

/// Text of the second column for a crate that may depend on every other.
const ALL: &str = "all of them";
/// Text of the first column for a crate on which every other may depend.
const FOR_ALL: &str = "every crate may use it";

/// Crates on which each crate may depend, as in the table.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    rows: BTreeMap<String, Allowed>,
    /// Crates on which every other may depend.
    for_all: BTreeSet<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Allowed {
    All,
    These(BTreeSet<String>),
}

#[test]
fn crates_depend_only_on_those_that_the_architecture_allows() {
    let text = fs::read_to_string(root().join(DECLARED_IN)).expect(DECLARED_IN);
    let names: BTreeSet<String> = crates().into_iter().collect();
    let table = Table::read(&text, &names);
    let manifest = |name: &str| {
        let path = root().join("crates").join(name).join("Cargo.toml");
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut found = Vec::new();
    for name in &names {
        found.extend(table.complaints(name, &dependencies(&manifest(name), &names)));
    }
    let unknown = table.rows.keys().filter(|name| !names.contains(*name));
    found.extend(unknown.map(|name| format!("{DECLARED_IN}: there is no crate {name}")));
    let offenders: Vec<_> = found.into_iter().map(|found| (found.clone(), found)).collect();
    refuse("crates depend on what the table allows, and the table names no more", &offenders, &[]);
}

impl Table {
    /// Reads the rows of the table under the heading. `crates` are the names that count among the words.
    fn read(text: &str, crates: &BTreeSet<String>) -> Table {
        let under = text.split(&format!("{HEADING}\n")).nth(1).unwrap_or("");
        let section = under.split("\n#").next().unwrap_or("");
        let mut table = Table::default();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let mut cells = row.trim_matches('|').split('|');
            let (first, second) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""));
            let Some(name) = quoted(first).next() else { continue };
            if first.contains(FOR_ALL) {
                table.for_all.insert(name.into());
            }
            let named = quoted(second).filter(|word| crates.contains(*word));
            let allowed = match second.trim() {
                ALL => Allowed::All,
                _ => Allowed::These(named.map(str::to_owned).collect()),
            };
            table.rows.insert(name.into(), allowed);
        }
        table
    }

    /// Returns the forbidden dependencies of a crate.
    fn complaints(&self, name: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
        let allowed = match self.rows.get(name) {
            None => return vec![format!("{DECLARED_IN}: the table has no row for {name}")],
            Some(Allowed::All) => return Vec::new(),
            Some(Allowed::These(allowed)) => allowed,
        };
        let beyond = dependencies.difference(allowed).filter(|one| !self.for_all.contains(*one));
        let beyond = beyond
            .map(|one| format!("{name} depends on {one}, which {DECLARED_IN} does not allow"));
        let unused = allowed.difference(dependencies);
        let unused =
            unused.map(|one| format!("{DECLARED_IN}: {name} does not depend on {one} (any more)"));
        beyond.chain(unused).collect()
    }
}

/// Returns the texts in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the crates of the workspace that a manifest names under its dependencies, except for those of tests.
fn dependencies(manifest: &str, crates: &BTreeSet<String>) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end().trim_end_matches(']');
            let last = section.rsplit('.').next().unwrap_or(section);
            inside = ["dependencies", "build-dependencies"].contains(&last);
        } else if inside && let Some((key, _)) = line.split_once('=') {
            let name = key.trim().trim_end_matches(".workspace");
            found.extend(crates.get(name).cloned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_table_is_read() {
        let text = "| `no` | `a` |\n## Crates\n| crate | may know | must not |\n|---|---|---|\n\
            | `r` (every crate may use it) | nothing | `a` |\n| `a` | `b`, `so.1`; of `c` a part | `r` |\n\
            | `b` | all of them | x |\n## Next\n| `c` | `a` | |\n";
        let table = Table::read(text, &set(&["a", "b", "c", "r"]));
        let these = |names: &[&str]| Allowed::These(set(names));
        let rows = [("a", these(&["b", "c"])), ("b", Allowed::All), ("r", these(&[]))];
        let rows = rows.map(|(name, allowed)| (name.to_owned(), allowed)).into();
        assert_eq!(table, Table { rows, for_all: set(&["r"]) });
    }

    #[test]
    fn dependencies_of_any_target_count_and_those_of_tests_do_not() {
        let manifest = "[package]\na = 1\n[dependencies]\nb = { workspace = true }\nc.workspace = true\n\
            other = \"1\"\n[target.'cfg(loom)'.dependencies]\nd = \"1\"\n[dev-dependencies]\ne = \"1\"\n";
        let found = dependencies(manifest, &set(&["a", "b", "c", "d", "e"]));
        assert_eq!(found, set(&["b", "c", "d"]));
    }

    #[test]
    fn what_the_table_forbids_and_what_nobody_needs_is_named() {
        let text = "## Crates\n| `a` | `b`, `c` | |\n| `r` (every crate may use it) | | |\n";
        let table = Table::read(text, &set(&["a", "b", "c", "d", "r"]));
        assert_eq!(table.complaints("a", &set(&["b", "c", "r"])), Vec::<String>::new());
        let complaints = table.complaints("a", &set(&["b", "d"]));
        assert_eq!(complaints.len(), 2);
        assert!(complaints[0].starts_with("a depends on d, "), "{complaints:?}");
        assert!(complaints[1].ends_with(": a does not depend on c (any more)"), "{complaints:?}");
        assert!(table.complaints("b", &set(&[]))[0].ends_with("no row for b"));
    }
}
