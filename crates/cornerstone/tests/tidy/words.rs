//! Checks words: names in the code do not contain those that the glossary has replaced.

use std::collections::BTreeMap;
use std::fs;

use crate::refuse;
use crate::sources::{root, sources};
use crate::tokens::{Token, tokens};

/// File with the words, their heading, and the beginning of the list of names that are permitted nevertheless.
const GLOSSARY: &str = "docs/glossary.md";
const HEADING: &str = "## Words that we no longer use";
const ALLOWED: &str = "Names that stay";

/// The glossary's rules for names.
#[derive(Debug, PartialEq, Eq)]
struct Glossary<'a> {
    /// A whole name, if it contains a capital letter; else words that follow one another in a name.
    refused: Vec<&'a str>,
    /// Names that are permitted with any words.
    allowed: Vec<&'a str>,
    /// Rows of the table whose last column names nothing.
    without_names: Vec<&'a str>,
}

#[test]
fn names_have_no_words_that_the_glossary_has_replaced() {
    let text = fs::read_to_string(root().join(GLOSSARY)).expect(GLOSSARY);
    let glossary = Glossary::read(&text);
    assert!(!glossary.refused.is_empty(), "{GLOSSARY}: no words under \"{HEADING}\"");
    let none: &[&str] = &[];
    assert_eq!(glossary.without_names, none, "{GLOSSARY}: rows that refuse no name");
    let mut offenders = Vec::new();
    for source in sources("crates", &["rs"]) {
        let mut found = BTreeMap::new();
        for (name, line) in names(&tokens(&source.text)) {
            for word in glossary.refused_in(name) {
                found.entry(word).or_insert((name, line));
            }
        }
        offenders.extend(found.into_iter().map(|(word, (name, line))| {
            let path = &source.path;
            let name_of_crate = path.split('/').nth(1).unwrap_or(path);
            (format!("{name_of_crate}: {word}"), format!("{path}:{line}: {name} has {word}"))
        }));
    }
    refuse(&format!("no name has a word that {GLOSSARY} has replaced"), &offenders, &[]);
}

impl<'a> Glossary<'a> {
    /// Reads the last column of the table under the heading, and the names that stay.
    fn read(text: &'a str) -> Self {
        let section = text.split_once(HEADING).map_or("", |(_, after)| after);
        let section = section.split("\n## ").next().unwrap_or("");
        let rows = section.lines().filter(|line| line.starts_with('|'));
        let last_cell = |row: &'a str| row.trim_end_matches('|').rsplit('|').next().unwrap_or("");
        // The first two are the heading and the line below it.
        let below = rows.clone().skip(2).filter(|row| quoted(last_cell(row)).next().is_none());
        let allowed = section.split_once(ALLOWED).map_or("", |(_, after)| after);
        Glossary {
            refused: rows.flat_map(|row| quoted(last_cell(row))).collect(),
            without_names: below.collect(),
            allowed: quoted(allowed.split("\n\n").next().unwrap_or("")).collect(),
        }
    }

    /// Returns the refused words in a name.
    fn refused_in(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let allowed = self.allowed.contains(&name);
        let words = words(name);
        let is_refused = move |entry: &&str| {
            if entry.contains(char::is_uppercase) {
                return name == *entry;
            }
            let wanted: Vec<&str> = entry.split('_').collect();
            words.windows(wanted.len()).any(|some| some.iter().eq(&wanted))
        };
        let refused: Vec<&str> = self.refused.iter().copied().filter(is_refused).collect();
        refused.into_iter().filter(move |_| !allowed)
    }
}

/// Returns the texts in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the words of a name in lower case, divided at underscores and before a capital letter that follows another
/// letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && after_small) {
            words.push(String::new());
        }
        if letter != '_' {
            words.last_mut().expect("never empty").extend(letter.to_lowercase());
        }
        after_small = !letter.is_uppercase() && letter != '_';
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the names in a file, each with its line, except for those of tests, which are sentences.
fn names<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, usize)> {
    let is_test = |at: usize| {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].text);
        [5, 4, 3, 2, 1].map(before) == ["#", "[", "test", "]", "fn"]
    };
    let names = tokens.iter().enumerate().filter(|(at, token)| token.is_word() && !is_test(*at));
    names.map(|(_, token)| (token.text, token.line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_divided_into_words() {
        assert_eq!(words("LOOK_AT"), ["look", "at"]);
        assert_eq!(words("TwoWayRing"), ["two", "way", "ring"]);
        assert_eq!(words("__x2_lookAt"), ["x2", "look", "at"]);
    }

    #[test]
    fn the_last_column_and_the_names_that_stay_are_read() {
        let text = "## A\n| `no` | `no` |\n## Words that we no longer use\n`No`.\n\n\
            | instead of | the term | refused |\n|---|---|---|\n| look | `poll` | `look`, `Way` |\n| none | x | |\n\n\
            Words. Names that stay: `look_us`,\n`a`.\n\n`b`\n## Next\n| `no` | `no` |\n";
        let expected = Glossary {
            refused: vec!["look", "Way"],
            allowed: vec!["look_us", "a"],
            without_names: vec!["| none | x | |"],
        };
        assert_eq!(Glossary::read(text), expected);
    }

    #[test]
    fn words_are_refused_in_any_name_and_names_as_a_whole() {
        let glossary = Glossary {
            refused: vec!["look", "in_vain", "Way"],
            allowed: vec!["look_us"],
            without_names: vec![],
        };
        let refused = |name: &str| glossary.refused_in(name).collect::<Vec<_>>();
        assert_eq!(refused("LOOK_EVERY"), ["look"]);
        assert_eq!(refused("give_up_if_in_vain"), ["in_vain"]);
        assert_eq!(refused("Way"), ["Way"]);
        for name in ["lookup", "vain_in", "OneWay", "way", "look_us"] {
            assert!(refused(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn names_of_tests_are_sentences() {
        let text = "#[test]\nfn a_look() { look(\"look\") } // look\nfn b() {}";
        let found: Vec<(&str, usize)> = names(&tokens(text));
        let expected = [("test", 1), ("fn", 2), ("look", 2), ("fn", 3), ("b", 3)];
        assert_eq!(found, expected);
    }
}
