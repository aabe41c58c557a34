//! Checks the lengths of files, functions and lines.

use crate::refuse;
use crate::sources::{Source, sources};
use crate::tokens::{Token, end_of_group, tokens};

const MOST_LINES_OF_A_FILE: usize = 400;
const MOST_LINES_OF_A_FUNCTION: usize = 60;
const MOST_COLUMNS: usize = 120;

/// Files that are too long. This list may only be shortened.
const LONG_FILES: &[&str] = &[];

/// Functions that are too long, as `file: function`. This list may only be shortened.
const LONG_FUNCTIONS: &[&str] = &[];

#[test]
fn no_file_is_too_long() {
    let mut offenders = Vec::new();
    for source in sources("crates", &["rs", "c"]).iter().chain(&sources("interop", &["py", "c"])) {
        let lines = source.text.lines().count();
        if lines > MOST_LINES_OF_A_FILE {
            offenders.push((source.path.clone(), format!("{}: {lines} lines", source.path)));
        }
    }
    refuse(&format!("files have at most {MOST_LINES_OF_A_FILE} lines"), &offenders, LONG_FILES);
}

#[test]
fn no_function_is_too_long() {
    let mut offenders = Vec::new();
    for Source { path, text } in sources("crates", &["rs"]) {
        for Function { name, line, lines } in functions(&tokens(&text)) {
            if lines > MOST_LINES_OF_A_FUNCTION {
                let complaint = format!("{path}:{line}: fn {name} has {lines} lines");
                offenders.push((format!("{path}: {name}"), complaint));
            }
        }
    }
    let rule = format!("functions have at most {MOST_LINES_OF_A_FUNCTION} lines");
    refuse(&rule, &offenders, LONG_FUNCTIONS);
}

/// Tests Python and the scripts. Of Rust, `rustfmt.toml` sets the columns.
#[test]
fn no_line_of_a_script_is_too_long() {
    let mut files = sources("scripts", &[""]);
    for folder in ["interop", "packaging", "examples"] {
        files.extend(sources(folder, &["py"]));
    }
    let mut offenders = Vec::new();
    for Source { path, text } in &files {
        for (index, line) in text.lines().enumerate() {
            let columns = line.chars().count();
            if columns > MOST_COLUMNS {
                let place = format!("{path}:{}", index + 1);
                offenders.push((place.clone(), format!("{place}: {columns} columns")));
            }
        }
    }
    refuse(&format!("lines of scripts have at most {MOST_COLUMNS} columns"), &offenders, &[]);
}

#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    /// Number of lines from that of its name to that of its last bracket.
    lines: usize,
}

/// Returns the functions that have a body.
fn functions<'a>(tokens: &[Token<'a>]) -> Vec<Function<'a>> {
    let mut functions = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "fn" || !pair[1].is_word() {
            continue;
        }
        let mut body = at;
        while tokens.get(body).is_some_and(|token| !["{", ";"].contains(&token.text)) {
            body = if ["(", "["].contains(&tokens[body].text) {
                end_of_group(tokens, body)
            } else {
                body + 1
            };
        }
        if tokens.get(body).is_some_and(|token| token.text == "{") {
            let last = tokens[end_of_group(tokens, body) - 1].line;
            let Token { text: name, line } = pair[1];
            functions.push(Function { name, line, lines: last - line + 1 });
        }
    }
    functions
}

#[test]
fn a_function_goes_from_its_name_to_its_last_bracket() {
    let text = "trait T {\n fn a(x: [u8; 3]);\n}\npub fn b() -> [u8; 2]\nwhere\n{\n let f: fn(u8) = c;\n}\n";
    assert_eq!(functions(&tokens(text)), [Function { name: "b", line: 4, lines: 5 }]);
}
