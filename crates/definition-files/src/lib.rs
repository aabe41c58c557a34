//! Files that define a machine or a chain of processing stages: their text, and mistakes in it with their place.
#![forbid(unsafe_code)]

use std::path::Path;

/// The reason why a file is not a valid description.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read the {what} {path}: {reason}")]
    Unreadable {
        /// The kind of thing that it describes.
        what: &'static str,
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
    },
    /// The content of the file is invalid.
    #[error("{file}, line {line}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The field, the error in it, and the permitted values.
        problem: String,
    },
}

/// Returns the text of the file at `path`, which describes a `what`.
///
/// # Errors
/// [`FileError::Unreadable`].
pub fn read_file(what: &'static str, path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path).map_err(|error| FileError::Unreadable {
        what,
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Returns the line, counted from 1, of byte `at` of a text.
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Converts an error of the TOML parser at byte `at` of `text`: adds the line and its key, and replaces the names of
/// types in the program by words.
pub fn toml_mistake(file: &str, text: &str, at: usize, message: &str) -> FileError {
    let line = line_of(text, at);
    let key = text.lines().nth(line - 1).and_then(|line| line.split_once('='));
    // A message about a field already names it.
    let key = key.filter(|_| !message.contains("field `"));
    let key = key.map(|(key, _)| format!("`{}`: ", key.trim())).unwrap_or_default();
    FileError::Invalid { file: file.into(), line, problem: format!("{key}{}", in_words(message)) }
}

fn in_words(message: &str) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("expected f64", "expected a number"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected usize", "expected a whole number from 0 on"),
        ("expected a boolean", "expected true or false"),
        ("a tuple of size 2", "two numbers"),
    ];
    WORDS.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_counted_from_one_and_the_end_is_on_the_last() {
        let text = "a = 1\nb = \"ü\"\n\nc";
        for (at, line) in [(0, 1), (5, 1), (6, 2), (12, 2), (15, 3), (16, 4), (999, 4)] {
            assert_eq!(line_of(text, at), line, "byte {at}");
        }
    }

    #[test]
    fn a_mistake_in_toml_is_reported_with_its_line_and_key() {
        let told =
            |at, message| toml_mistake("a.toml", "[m]\nrows = -9\n", at, message).to_string();
        let negative = told(11, "invalid value: integer `-9`, expected usize");
        let words = "`rows`: invalid value: integer `-9`, expected a whole number from 0 on";
        assert_eq!(negative, format!("a.toml, line 2: {words}"));
        assert_eq!(told(4, "unknown field `rows`"), "a.toml, line 2: unknown field `rows`");
        assert_eq!(told(0, "wrong"), "a.toml, line 1: wrong");
    }

    #[test]
    fn a_missing_file_is_reported_by_name() {
        let error = read_file("machine file", Path::new("/nowhere/x.toml")).unwrap_err();
        assert!(error.to_string().starts_with("cannot read the machine file /nowhere/x.toml: "));
    }
}
