//! Errors of finding and reading a machine.

use definition_files::FileError;

/// Why a machine could not be found or read.
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
    /// The file could not be read, or does not describe a machine.
    #[error(transparent)]
    File(#[from] FileError),
}
