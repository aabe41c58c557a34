//! Findings as the XML of JUnit, which CI systems show as the results of tests: one test for each kind of mistake, so that its
//! name is the same in every run, and one for the run itself.

use super::kind::MistakeKind;
use super::report::{Finding, Report};
use super::table::all;

/// What identifies a file of ours.
pub(super) const MARK: &str = "<testsuites name=\"Cornerstone\"";

/// Name of the test that fails if the program was not started or was interrupted.
const RUN: &str = "run";

/// Returns the document of a run.
pub(super) fn document(report: &Report) -> String {
    let class = escaped(report.program.rsplit('/').next().unwrap_or_default());
    let mut cases = String::new();
    let (mut failures, mut skipped) = (0, 0);
    for kind in all() {
        let of_kind: Vec<&Finding> =
            report.findings.iter().filter(|finding| finding.kind == kind.name).collect();
        let is_checked = report.checked.contains(&kind.name);
        let contents = match (&of_kind[..], is_checked) {
            ([], true) => String::new(),
            ([], false) => {
                skipped += 1;
                format!("<skipped message=\"{}\"/>", escaped(&why_not(kind)))
            }
            (found, _) => {
                failures += 1;
                failure(kind, found)
            }
        };
        cases += &case(&class, kind.name, &contents);
    }
    let unexplained = report.unexplained();
    let errors = usize::from(unexplained.is_some());
    let error = unexplained.map(|outcome| {
        let first = outcome.lines().next().unwrap_or_default();
        format!("<error message=\"{}\" type=\"run\">{}</error>", escaped(first), escaped(outcome))
    });
    cases += &case(&class, RUN, &error.unwrap_or_default());
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{:.3}\"",
        all().count() + 1,
        report.run_s
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{MARK} {counts}>\n  \
         <testsuite name=\"{}\" {counts} timestamp=\"{}\">\n{cases}  </testsuite>\n</testsuites>\n",
        escaped(&report.command),
        report.started.trim_end_matches('Z'),
    )
}

fn case(class: &str, name: &str, contents: &str) -> String {
    let begin = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\"");
    match contents {
        "" => format!("{begin}/>\n"),
        _ => format!("{begin}>{contents}</testcase>\n"),
    }
}

fn why_not(kind: &MistakeKind) -> String {
    let option = kind.found.option().unwrap_or_default();
    format!("{option} was not given, or no rank has called MPI_Init")
}

fn failure(kind: &MistakeKind, found: &[&Finding]) -> String {
    let first = found[0].message.lines().next().unwrap_or_default();
    let mut text = String::new();
    for finding in found {
        text += &format!("{}: {}\n", contract::name_ranks(&finding.ranks), finding.message);
        text.extend(finding.sides.iter().map(|side| format!("  at {}\n", side.words())));
    }
    if !kind.remedy.is_empty() {
        text += &format!("what to do: {}\n", kind.remedy);
    }
    let (first, text) = (escaped(first), escaped(&text));
    format!("<failure message=\"{first}\" type=\"{}\">{text}</failure>", kind.name)
}

/// Returns a text for XML 1.0, which has no control characters but tabs and ends of lines.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(character),
            other if other.is_control() || ['\u{fffe}', '\u{ffff}'].contains(&other) => {
                out.push('?')
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_contain_nothing_that_xml_has_no_room_for() {
        assert_eq!(
            escaped("a<b> & \"c\"\n\u{1b}[1m\u{ffff}"),
            "a&lt;b&gt; &amp; &quot;c&quot;\n?[1m?"
        );
    }
}
