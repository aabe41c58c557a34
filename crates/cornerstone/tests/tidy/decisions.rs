//! Checks the decisions: each page has a status and stands in the index, and numbers that are named have a page.

use std::collections::BTreeSet;

use crate::refuse;
use crate::sources::{Source, sources};

const FOLDER: &str = "docs/decisions";
const INDEX: &str = "docs/decisions/README.md";

#[test]
fn decisions_have_a_status_and_stand_in_the_index() {
    let (pages, index) = pages();
    let numbers: BTreeSet<u32> = pages.iter().filter_map(|page| number_of(&page.path)).collect();
    let mut offenders = Vec::new();
    let mut refuse_page = |path: &str, complaint: String| {
        offenders.push((path.to_string(), format!("{path}: {complaint}")));
    };
    for Source { path, text } in &pages {
        let file = path.rsplit('/').next().unwrap_or(path);
        let own = number_of(path);
        if own.is_none() || !text.starts_with(&format!("# {}: ", &file[..4.min(file.len())])) {
            refuse_page(path, "its name and its heading begin with its number".into());
        }
        if !index.text.contains(&format!("]({file})")) {
            refuse_page(path, format!("{INDEX} does not link it"));
        }
        match replacing(text) {
            None => refuse_page(path, "its third line is no status".into()),
            Some(pages) => {
                let is_page = |page: &u32| numbers.contains(page) && Some(*page) != own;
                for page in pages.iter().filter(|page| !is_page(page)) {
                    refuse_page(path, format!("no other page {page:04} replaces it"));
                }
            }
        }
    }
    refuse("decisions have a status and stand in the index", &offenders, &[]);
}

#[test]
fn decisions_that_are_named_exist() {
    let (pages, _) = pages();
    let numbers: BTreeSet<u32> = pages.iter().filter_map(|page| number_of(&page.path)).collect();
    let mut offenders = Vec::new();
    let documents = sources("docs", &["md"]).into_iter().chain(sources("crates", &["rs"]));
    for Source { path, text } in documents.filter(|source| !source.path.ends_with("/decisions.rs"))
    {
        for number in named(&text).into_iter().filter(|number| !numbers.contains(number)) {
            let complaint = format!("{path}: decision {number:04} has no page");
            offenders.push((format!("{path}: {number:04}"), complaint));
        }
    }
    refuse("decisions that are named have a page", &offenders, &[]);
}

/// Returns the pages, and their index.
fn pages() -> (Vec<Source>, Source) {
    let (mut index, pages): (Vec<Source>, Vec<Source>) =
        sources(FOLDER, &["md"]).into_iter().partition(|page| page.path == INDEX);
    (pages, index.pop().expect(INDEX))
}

fn number_of(path: &str) -> Option<u32> {
    let (number, _) = path.rsplit('/').next()?.split_once('-')?;
    (number.len() == 4).then(|| number.parse().ok())?
}

/// Returns the numbers of the pages that replace a page, according to the status in its third line.
fn replacing(text: &str) -> Option<Vec<u32>> {
    let status = text.lines().nth(2)?.strip_prefix("Status: ")?;
    if status == "stands" {
        return Some(Vec::new());
    }
    let by =
        status.strip_prefix("replaced ")?.trim_start_matches("in part ").strip_prefix("by ")?;
    let is_number = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    let words = by.split(|letter: char| !letter.is_alphanumeric());
    let numbers: Vec<u32> = words.filter(is_number).filter_map(|word| word.parse().ok()).collect();
    (!numbers.is_empty()).then_some(numbers)
}

/// Returns the numbers that follow `decision` or `decisions/` in a text, also on the next line of a comment.
fn named(text: &str) -> Vec<u32> {
    let number = |word: &str| -> Option<u32> {
        let word = word.trim_start_matches(['[', '(']);
        let digits = word.split(|letter: char| !letter.is_ascii_digit()).next()?;
        digits.parse().ok()
    };
    let is_marker = |word: &&str| !["///", "//!", "//", "*"].contains(word);
    let words: Vec<&str> = text.split_whitespace().filter(is_marker).collect();
    let is_decision = |word: &str| {
        let word = word.trim_start_matches(['[', '(']);
        ["decision", "Decision", "decisions", "Decisions"].contains(&word)
    };
    let after_word = words.windows(2).filter(|pair| is_decision(pair[0])).map(|pair| pair[1]);
    let in_path = text.match_indices("decisions/").map(|(at, path)| &text[at + path.len()..]);
    after_word.chain(in_path).filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_names_the_pages_that_replace_a_page() {
        let status =
            |status: &str| replacing(&format!("# 0001: A\n\nStatus: {status}\n\nWords.\n"));
        assert_eq!(status("stands"), Some(vec![]));
        assert_eq!(status("replaced by 0002"), Some(vec![2]));
        let in_part = "replaced in part by 0067 (of 2 runs) and 0015 (launches)";
        assert_eq!(status(in_part), Some(vec![67, 15]));
        for wrong in ["stands by 0002", "replaced", "replaced by nothing", "open"] {
            assert_eq!(status(wrong), None, "{wrong}");
        }
        assert_eq!(replacing("# 0001: A\nStatus: stands\n"), None);
    }

    #[test]
    fn numbers_of_decisions_are_found_over_the_end_of_a_line() {
        let text = "/// a ([decision\n/// 0117](decisions/0036-a.md#b)), of decisions 0002 and more\n// decision X";
        assert_eq!(named(text), [117, 2, 36]);
    }
}
