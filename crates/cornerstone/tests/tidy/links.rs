//! Checks that the targets of links in documents and comments exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::refuse;
use crate::sources::{Source, root, sources};

/// Documents outside of `docs/`.
pub(crate) const OTHER_DOCUMENTS: &[&str] =
    &["README.md", "DEVELOPERS.md", "CHANGELOG.md", "interop/README.md", "packaging/README.md"];

#[test]
fn links_lead_somewhere() {
    let root = root();
    let mut documents = sources("docs", &["md"]);
    for path in OTHER_DOCUMENTS {
        let text = fs::read_to_string(root.join(path)).expect(path);
        documents.push(Source { path: path.to_string(), text });
    }
    let mut offenders = Vec::new();
    for Source { path, text } in &documents {
        let folder = Path::new(path).parent().expect("a file lies in a folder");
        for (line, link) in links(text) {
            check(path, line, folder, link, &mut offenders);
        }
    }
    for Source { path, text } in
        sources("crates", &["rs"]).iter().chain(&sources("interop", &["py"]))
    {
        for (line, link) in mentions(text) {
            check(path, line, Path::new(""), link, &mut offenders);
        }
    }
    refuse("links lead to a file and a heading", &offenders, &[]);
}

/// Records a link of `path` if there is no such file below `folder`, or no such heading in it.
fn check(
    path: &str,
    line: usize,
    folder: &Path,
    link: &str,
    offenders: &mut Vec<(String, String)>,
) {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { Path::new(path).to_owned() } else { folder.join(file) };
    let target = root().join(target);
    let missing = if !target.exists() {
        "no such file"
    } else if !anchor.is_empty() && !has_heading(&target, anchor) {
        "no such heading"
    } else {
        return;
    };
    offenders.push((format!("{path}: {link}"), format!("{path}:{line}: {link}: {missing}")));
}

fn has_heading(file: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    anchors(&text).contains(anchor)
}

/// Returns the anchors of a document's headings, as GitHub derives them from the words.
pub(crate) fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| -> String {
        let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
        let words: String = line.trim_start_matches('#').trim().chars().filter(kept).collect();
        words.to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// Returns the links of a document to other documents, each with its line.
pub(crate) fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let links = line.split("](").skip(1).filter_map(|after| after.split(')').next());
        found.extend(links.filter(|link| !link.contains("://")).map(|link| (index + 1, link)));
    }
    found
}

/// Returns headings of documents that code mentions, such as `docs/style.md#tone`, each with its line.
pub(crate) fn mentions(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices("docs/") {
            let is_part = |letter: char| letter.is_alphanumeric() || "/.-_#".contains(letter);
            let end = line[at..].find(|letter| !is_part(letter)).map_or(line.len(), |end| at + end);
            let mention = line[at..end].trim_end_matches('.');
            if mention.contains(".md#") {
                found.push((index + 1, mention));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_the_words_of_headings() {
        let text = "# A rank's own block\nno\n## `rep movsb`, 1 to 4 KiB\n";
        let expected = ["a-ranks-own-block", "rep-movsb-1-to-4-kib"];
        assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn links_of_documents_and_mentions_in_code_are_found() {
        let text = "[a](b.md#c), [d](http://e)\n(f)[g](#h)";
        assert_eq!(links(text), [(1, "b.md#c"), (2, "#h")]);
        assert_eq!(
            mentions("// See docs/style.md#names-and-words.\n// docs/d.md"),
            [(1, "docs/style.md#names-and-words")]
        );
    }
}
