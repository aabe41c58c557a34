//! How long files and functions are.

use crate::refuse;
use crate::sources::{Source, sources};
use crate::tokens::{Token, end_of_group, tokens};

const MOST_LINES_OF_A_FILE: usize = 400;
const MOST_LINES_OF_A_FUNCTION: usize = 60;

/// Written by programs, not by people.
const GENERATED: &[&str] = &[
    "crates/libmpi-abi/src/abi/constants.rs",
    "crates/libmpi-abi/src/bindings/functions.rs",
    "crates/libmpich-abi/src/bindings/functions.rs",
    "crates/libmpich-abi/src/values.rs",
    "crates/libprofile/src/entries/functions.rs",
    "crates/profile/src/functions/list.rs",
];

/// Files that are too long. This list only becomes shorter.
const LONG_FILES: &[&str] = &[];

/// Functions that are too long, as `file: function`. This list only becomes shorter.
const LONG_FUNCTIONS: &[&str] = &[];

#[test]
fn no_file_is_too_long() {
    let mut offenders = Vec::new();
    for source in sources("crates", &["rs", "c"]).iter().chain(&sources("interop", &["py", "c"])) {
        let lines = source.text.lines().count();
        if lines > MOST_LINES_OF_A_FILE && !GENERATED.contains(&source.path.as_str()) {
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

#[derive(Debug, PartialEq, Eq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    /// From the line of its name to that of its last bracket.
    lines: usize,
}

/// The functions that have a body.
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
