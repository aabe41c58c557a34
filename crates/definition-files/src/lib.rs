//! Files that define a machine or a chain of processing stages: their text, and mistakes in it with their place.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Length up to which something is read that does not say how long it is, such as a pipe or a device.
const UNSIZED_MAX: u64 = 16 << 20;

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
    read_text(path).map_err(|error| FileError::Unreadable {
        what,
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Returns the bytes of a file that a user has named: a regular file, or what ends within 16 MiB.
///
/// # Errors
/// Those of the system, and [`ErrorKind::FileTooLarge`].
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_all(&File::open(path)?)
}

/// Returns the bytes of such a file that is open, from where it stands.
///
/// # Errors
/// As of [`read_bytes`].
pub fn read_all(file: &File) -> io::Result<Vec<u8>> {
    let limit = file.metadata()?.len().max(UNSIZED_MAX);
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let why = format!("it is no regular file and does not end within {} MiB", limit >> 20);
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Returns the text of such a file.
///
/// # Errors
/// As of [`read_bytes`], and [`ErrorKind::InvalidData`] for what is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(ErrorKind::InvalidData, "it is not a text in UTF-8");
    String::from_utf8(read_bytes(path)?).map_err(not_text)
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
