//! The page on the kinds of mistakes, `docs/mistakes.md`.

use super::kind::{Found, MistakeKind};
use super::table::all;

const HEAD: &str = "\
# Mistakes that are found

This page is made from the table that the messages and reports use (`crates/cornerstone/src/mistakes`), and a test runs each
example: with two ranks, inside of this program, in which `EXAMPLE` stands for its lines:

```c
";

const INTRODUCTION: &str = "\
```

Below it stands what is said of it. Sections are those of MPI 5.0. \"Always\" means in every run, without an option; such a mistake ends the program. `--check` and
`--check-leaks` find mistakes with which the program goes on; then the command ends with status 1 ([statuses](statuses.md)).
A kind's name stands in [reports for CI](explain.md#reports-for-continuous-integration) and in
[suppressions](explain.md#suppressions).

| kind | mistake | found | sections |
|---|---|---|---|
";

/// Returns the page.
pub fn page() -> String {
    let mut out = HEAD.to_owned();
    out += &MistakeKind { example: "EXAMPLE", ..super::kind::BLANK }.program();
    out += INTRODUCTION;
    for kind in all() {
        let MistakeKind { name, title, sections, .. } = kind;
        out += &format!("| [{name}](#{name}) | {title} | {} | {sections} |\n", found(kind.found));
    }
    for kind in all() {
        let MistakeKind { name, title, remedy, example, messages, .. } = kind;
        out += &format!("\n## {name}\n{title}.");
        if !remedy.is_empty() {
            out += &format!(" What to do: {remedy}.");
        }
        out += "\n";
        if !example.is_empty() {
            out += &format!("\n```c\n{example}\n```\n\n```\n{}\n```\n", messages[0]);
        }
    }
    out
}

fn found(found: Found) -> String {
    found.option().map_or("always".into(), |option| format!("`{option}`"))
}
