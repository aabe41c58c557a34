//! Reads the sources as text, and refuses properties that make them hard to read or to change: files and functions that
//! are too long, crates that depend on others than the architecture permits, modules that import from modules above
//! them, files that import each other, one type name for different things, words that the glossary replaces, links without
//! a target, decisions without a status, and measurements without a reader.

mod circles;
mod decisions;
mod dependencies;
mod examples;
mod imports;
mod links;
mod machine_files;
mod measurements;
mod module_order;
mod modules;
mod names;
mod sizes;
mod sources;
mod tokens;
mod unsafe_code;
mod words;

use std::collections::BTreeSet;

/// Fails with the offences, a line each, and with exceptions that are no longer needed.
///
/// `offenders` are pairs of a key, as in the list of exceptions, and the complaint about it.
fn refuse(rule: &str, offenders: &[(String, String)], exceptions: &[&str]) {
    let excepted: BTreeSet<&str> = exceptions.iter().copied().collect();
    let found: BTreeSet<&str> = offenders.iter().map(|(key, _)| key.as_str()).collect();
    let refused = offenders.iter().filter(|(key, _)| !excepted.contains(key.as_str()));
    let mut lines: Vec<String> = refused.map(|(_, complaint)| complaint.clone()).collect();
    let needless = excepted.difference(&found);
    lines.extend(needless.map(|key| format!("{key}: is fine now; remove it from the exceptions")));
    assert!(lines.is_empty(), "{rule}\n{}", lines.join("\n"));
}
