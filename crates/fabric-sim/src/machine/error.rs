//! Errors in finding and reading a machine.

use definition_files::FileError;

/// The reason why a machine could not be found or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// There is no such machine, neither built in nor in a file.
    #[error(
        "there is no machine `{name}`{suggestion}; `cornerstone machines` lists those built in, and a path ending in .toml names a file"
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The most similar name, as a part of the message; empty if none is similar.
        suggestion: String,
    },
    /// The file could not be read, or does not describe a machine.
    #[error(transparent)]
    File(#[from] FileError),
}
