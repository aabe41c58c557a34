//! Files that describe something: what is wrong with them, and where.

use std::path::Path;

/// Why a file does not say what it was to say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("cannot read the {what} {path}: {reason}")]
    Unreadable {
        /// What it was to describe.
        what: &'static str,
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// The file does not describe what it was to describe.
    #[error("{file}, line {line}: {problem}")]
    Invalid {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The field, what is wrong, and what is allowed.
        problem: String,
    },
}

/// The text of the file at `path`, which describes a `what`.
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

/// The line, counted from 1, of byte `at` of a text.
pub fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
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
    fn a_file_that_is_not_there_is_told_by_name() {
        let error = read_file("machine file", Path::new("/nowhere/x.toml")).unwrap_err();
        assert!(error.to_string().starts_with("cannot read the machine file /nowhere/x.toml: "));
    }
}
