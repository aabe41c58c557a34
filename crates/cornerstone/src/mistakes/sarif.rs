//! Findings in SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which code hosts show at the lines of a
//! change.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::kind::MistakeKind;
use super::report::{Finding, Place, Report};
use super::table::all;

/// What identifies a file of ours.
pub(super) const MARK: &str = "\"name\": \"Cornerstone\"";

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of the folder to which paths are relative: that in which the command was started.
const ROOT: &str = "SRCROOT";

/// Returns the log of a run.
pub(super) fn log(report: &Report) -> Value {
    let root = std::env::current_dir().unwrap_or_default();
    let mut invocation = json!({
        "commandLine": report.command,
        "startTimeUtc": report.started,
        "exitCode": report.status,
        "executionSuccessful": report.unexplained().is_none(),
    });
    if let Some(outcome) = &report.outcome {
        invocation["exitCodeDescription"] = json!(outcome);
    }
    let results: Vec<Value> =
        report.findings.iter().map(|finding| result(finding, report, &root)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Cornerstone",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": all().map(rule).collect::<Vec<_>>(),
            }},
            "invocations": [invocation],
            "originalUriBaseIds": {ROOT: {"uri": format!("file://{}/", encoded(&root))}},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    })
}

fn rule(kind: &MistakeKind) -> Value {
    let mut rule = json!({
        "id": kind.name,
        "shortDescription": {"text": kind.title},
        "defaultConfiguration": {"level": "error"},
    });
    if !kind.remedy.is_empty() {
        rule["help"] = json!({"text": kind.remedy});
    }
    if !kind.sections.is_empty() {
        rule["fullDescription"] =
            json!({"text": format!("{} (MPI 5.0, section {})", kind.title, kind.sections)});
    }
    rule
}

fn result(finding: &Finding, report: &Report, root: &Path) -> Value {
    let index = all().position(|kind| kind.name == finding.kind);
    let with_line = || finding.sides.iter().filter(|side| side.file.is_some());
    let first = match with_line().next() {
        Some(side) => location(side, root),
        // Code hosts show no result without a location. The program is what is known.
        None => json!({"physicalLocation": {"artifactLocation": artifact(&report.program, root)}}),
    };
    let others: Vec<Value> = with_line().skip(1).map(|side| location(side, root)).collect();
    let mut result = json!({
        "ruleId": finding.kind,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [first],
        "occurrenceCount": finding.times,
        "properties": {"ranks": finding.ranks},
    });
    if !others.is_empty() {
        result["relatedLocations"] = json!(others);
    }
    result
}

fn location(side: &Place, root: &Path) -> Value {
    let mut physical =
        json!({"artifactLocation": artifact(side.file.as_deref().unwrap_or_default(), root)});
    // Debug information has the line 0 for code that belongs to no line.
    if let Some(line) = side.line.filter(|line| *line > 0) {
        physical["region"] = json!({"startLine": line});
    }
    let mut location = json!({"physicalLocation": physical, "message": {"text": side.words()}});
    if let Some(function) = &side.function {
        location["logicalLocations"] = json!([{"name": function, "kind": "function"}]);
    }
    location
}

/// Returns the place of a file: relative to the root if it is below it.
fn artifact(file: &str, root: &Path) -> Value {
    let path = without_dots(&root.join(file));
    match path.strip_prefix(root) {
        Ok(below) => json!({"uri": encoded(below), "uriBaseId": ROOT}),
        Err(_) => json!({"uri": format!("file://{}", encoded(&path))}),
    }
}

/// Returns a path without `.` and `..`, which compilers leave in it.
fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Returns a path as a part of a URI (RFC 3986).
fn encoded(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes
        .map(|&byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_the_root_are_relative_to_it_and_all_are_encoded() {
        let root = Path::new("/home/user/my code");
        let uri = |file: &str| artifact(file, root);
        let below = |uri: &str| json!({"uri": uri, "uriBaseId": ROOT});
        assert_eq!(uri("src/a.c"), below("src/a.c"));
        assert_eq!(uri("/home/user/my code/build/../src/ä b.c"), below("src/%C3%A4%20b.c"));
        assert_eq!(uri("./a.c"), below("a.c"));
        assert_eq!(uri("/usr/include/a.h"), json!({"uri": "file:///usr/include/a.h"}));
    }
}
