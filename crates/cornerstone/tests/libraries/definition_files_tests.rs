//! Mistakes in files, with their places.

use std::path::Path;

use definition_files::{line_of, read_file, toml_mistake};

#[test]
fn a_line_is_counted_from_one_and_the_end_is_on_the_last() {
    let text = "a = 1\nb = \"ü\"\n\nc";
    for (at, line) in [(0, 1), (5, 1), (6, 2), (12, 2), (15, 3), (16, 4), (999, 4)] {
        assert_eq!(line_of(text, at), line, "byte {at}");
    }
}

#[test]
fn a_mistake_in_toml_is_reported_with_its_line_and_key() {
    let printed = |at, message| toml_mistake("a.toml", "[m]\nrows = -9\n", at, message).to_string();
    let negative = printed(11, "invalid value: integer `-9`, expected usize");
    let words = "`rows`: invalid value: integer `-9`, expected a whole number from 0 on";
    assert_eq!(negative, format!("a.toml, line 2: {words}"));
    assert_eq!(printed(4, "unknown field `rows`"), "a.toml, line 2: unknown field `rows`");
    assert_eq!(printed(0, "wrong"), "a.toml, line 1: wrong");
}

#[test]
fn a_missing_file_is_reported_by_name() {
    let error = read_file("machine file", Path::new("/nowhere/x.toml")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the machine file /nowhere/x.toml: "));
}
