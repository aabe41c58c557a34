//! Checks the notebook of measurements: each entry has a reader, and names what repeats it.

use std::collections::BTreeSet;
use std::fs;

use crate::links::{OTHER_DOCUMENTS, anchors, links, mentions};
use crate::refuse;
use crate::sources::{root, sources};

const NOTEBOOK: &str = "docs/measurements.md";
/// The only section that is no entry.
const INTRODUCTION: &str = "How to read an entry";

#[test]
fn entries_of_the_notebook_have_a_reader_and_can_be_repeated_or_say_so() {
    let text = fs::read_to_string(root().join(NOTEBOOK)).expect(NOTEBOOK);
    let read = anchors_that_are_read();
    let mut offenders = Vec::new();
    for (heading, what_repeats_it) in entries(&text) {
        let anchor = anchors(&format!("## {heading}")).pop_first().expect("one heading");
        if !read.contains(&anchor) {
            let complaint = "no code and no other document links to it; git's history keeps it";
            offenders.push((heading.to_string(), format!("{NOTEBOOK}: {heading}: {complaint}")));
        }
        for part in what_repeats_it.iter().filter(|part| !is_repeatable(part)) {
            let complaint = format!("{part}: names no `command` and no loop");
            offenders.push((heading.to_string(), format!("{NOTEBOOK}: {heading}: {complaint}")));
        }
    }
    refuse("entries have a reader, and name what repeats them", &offenders, &[]);
}

/// Returns the entries, each with its first paragraph, or with what stands before the colon in each of its items.
fn entries(text: &str) -> impl Iterator<Item = (&str, Vec<String>)> {
    let sections = text.split("\n## ").skip(1);
    let sections = sections.map(|section| section.split_once('\n').unwrap_or((section, "")));
    let entries = sections.filter(|(heading, _)| *heading != INTRODUCTION);
    entries.map(|(heading, body)| {
        let lines: Vec<&str> = body.lines().take_while(|line| !line.is_empty()).collect();
        let first = lines.iter().map(|line| line.trim_start()).collect::<Vec<&str>>().join(" ");
        let Some(items) = first.strip_prefix("* **") else { return (heading, vec![first]) };
        let before_colon = |item: &str| item.split(": ").next().unwrap_or(item).to_string();
        (heading, items.split(" * **").map(before_colon).collect())
    })
}

/// Returns whether a text has a command, or says that a loop was measured, which was not kept.
fn is_repeatable(text: &str) -> bool {
    text.contains('`')
        || text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "loop")
}

/// Returns the anchors of the notebook that code and other documents link to.
fn anchors_that_are_read() -> BTreeSet<String> {
    let mut read = BTreeSet::new();
    let mut add = |link: &str| {
        if let Some((file, anchor)) = link.split_once('#')
            && NOTEBOOK.ends_with(file.trim_start_matches("../"))
            && file.ends_with("measurements.md")
        {
            read.insert(anchor.to_string());
        }
    };
    for source in sources("docs", &["md"]).iter().filter(|source| source.path != NOTEBOOK) {
        links(&source.text).into_iter().for_each(|(_, link)| add(link));
    }
    for path in OTHER_DOCUMENTS {
        let text = fs::read_to_string(root().join(path)).expect(path);
        links(&text).into_iter().for_each(|(_, link)| add(link));
    }
    for source in sources("crates", &["rs"]) {
        mentions(&source.text).into_iter().for_each(|(_, link)| add(link));
    }
    read
}

#[test]
fn an_entry_begins_with_its_machine_and_what_repeats_it() {
    let text = "# N\n\n## How to read an entry\nWords.\n\n# M\n\n## A\nZen 5 · loop\n\n`b`\n\n## B\nno\n`c`\n\n\
                ## C\n* **D** · `e`: f\n  g.\n* **H** · i: `j`.\n";
    let found: Vec<(&str, Vec<String>)> = entries(text).collect();
    let parts = |parts: &[&str]| parts.iter().map(|part| part.to_string()).collect::<Vec<String>>();
    let expected = [
        ("A", parts(&["Zen 5 · loop"])),
        ("B", parts(&["no `c`"])),
        ("C", parts(&["D** · `e`", "H** · i"])),
    ];
    assert_eq!(found, expected);
    assert!(is_repeatable("two processes, loop") && is_repeatable("of `osu_bw`"));
    assert!(!is_repeatable("Zen 5 · loops were not kept"));
}
