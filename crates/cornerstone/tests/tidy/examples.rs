//! Checks examples in documentation: `doctest = false` is set for crates without any, and only for them.

use std::fs;

use crate::refuse;
use crate::sources::{crates, root, sources};

/// Tests the setting. Without it, cargo starts rustdoc on a crate that has no example. With it, an example is never
/// compiled.
#[test]
fn examples_are_tested_where_there_are_any() {
    let mut offenders = Vec::new();
    for name in crates() {
        let manifest = format!("crates/{name}/Cargo.toml");
        let text = fs::read_to_string(root().join(&manifest)).expect(&manifest);
        let is_off = text.lines().any(|line| line == "doctest = false");
        let files = sources(&format!("crates/{name}/src"), &["rs"]);
        let with_example = files.iter().find(|source| has_example(&source.text));
        let complaint = match with_example {
            Some(source) if is_off => format!("{manifest}: {} has an example", source.path),
            None if !is_off => format!("{manifest}: no example; say `doctest = false` in [lib]"),
            _ => continue,
        };
        offenders.push((manifest, complaint));
    }
    refuse("`doctest = false` stands in crates without examples", &offenders, &[]);
}

/// Returns whether the comments of a file contain a block of code that rustdoc compiles.
fn has_example(text: &str) -> bool {
    let mut inside = false;
    for line in text.lines().map(str::trim_start) {
        let Some(words) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        let Some(language) = words.trim_start().strip_prefix("```") else { continue };
        if !inside && !["text", "ignore"].contains(&language) {
            return true;
        }
        inside = !inside;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_without_a_language_is_an_example() {
        assert!(has_example("/// Words.\n    /// ```\n    /// f();\n    /// ```\nfn f() {}"));
        assert!(has_example("//! ```no_run\n//! f();\n//! ```"));
        assert!(!has_example("//! ```text\n//! f();\n//! ```"));
        assert!(!has_example("// ```\nlet text = \"```\";"));
    }
}
