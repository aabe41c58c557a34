//! Why a machine cannot be had, in words that name the place.

/// Why a machine cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// There is no such machine, built in or in a file.
    #[error(
        "there is no machine `{name}`{suggestion}; `cornerstone machines` lists those built in, and a path ending in .toml names a file"
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The nearest names, in words.
        suggestion: String,
    },
    /// The file cannot be read.
    #[error("cannot read the machine file {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// The file does not describe a machine.
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
