//! Checks the names of public types: one name means one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::refuse;
use crate::sources::{crates, sources};
use crate::tokens::{Token, tokens, without_tests};

/// Maximum number of crates with a public type of one name.
const MOST_CRATES: usize = 2;

/// Names that every crate may define, as the modules of the standard library do.
const OF_EVERY_CRATE: &[&str] = &["Error", "Result"];

#[test]
fn one_name_means_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for name in crates() {
        for source in sources(&format!("crates/{name}/src"), &["rs"]) {
            for found in public_types(&without_tests(&tokens(&source.text))) {
                places.entry(found.to_owned()).or_default().insert(name.clone());
            }
        }
    }
    let mut offenders = Vec::new();
    for (name, crates) in places.into_iter().filter(|(name, crates)| {
        crates.len() > MOST_CRATES && !OF_EVERY_CRATE.contains(&name.as_str())
    }) {
        let crates: Vec<String> = crates.into_iter().collect();
        offenders.push((name.clone(), format!("{name} is a public type of {}", crates.join(", "))));
    }
    refuse("different things have different names", &offenders, &[]);
}

/// Returns the types that other crates can name.
fn public_types<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let is_type = |three: &&[Token]| {
        three[0].text == "pub"
            && ["struct", "enum", "union", "trait", "type"].contains(&three[1].text)
    };
    tokens.windows(3).filter(is_type).map(|three| three[2].text).collect()
}

#[test]
fn public_types_are_those_that_another_crate_can_name() {
    let text = "pub struct A; pub(crate) struct B; enum C {} pub trait D { type E; } pub fn f() {} pub type G = u8;";
    assert_eq!(public_types(&tokens(text)), ["A", "D", "G"]);
}
