//! The reasons why a recording cannot be made or used.

/// First line of a file. Its number is the version of the format.
pub(crate) const MARK: &str = "cornerstone-recording 1";
/// Length of the longest message of a recording, and of the data of all ranks in a collective: a replay lends that much
/// memory.
pub(crate) const LONGEST_MESSAGE_BYTES: usize = 1 << 38;

/// The reason why a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The file could not be read or written.
    #[error("'{path}': {reason}")]
    File {
        /// Its path.
        path: String,
        /// The system's message.
        reason: String,
    },
    /// There is a file of that name.
    #[error("'{path}' is already there: recordings are never overwritten; choose another name")]
    Exists {
        /// Its path.
        path: String,
    },
    /// A message is too long for any replay.
    #[error(
        "'{path}' has a message of {bytes} bytes; at most {LONGEST_MESSAGE_BYTES} are replayed"
    )]
    TooLong {
        /// Its path.
        path: String,
        /// Length of the message, or of the data of a collective.
        bytes: usize,
    },
    /// The file is not a recording.
    #[error("'{path}' is no recording of a program: it does not begin with '{MARK}'")]
    NotOne {
        /// Its path.
        path: String,
    },
    /// The file is a recording of another version.
    #[error("'{path}' is of another version ('{found}'); this command reads '{MARK}'")]
    Version {
        /// Its path.
        path: String,
        /// Its first line.
        found: String,
    },
    /// A text of another simulator contains something that cannot be replayed.
    #[error("'{path}', line {line}: {reason}")]
    Text {
        /// Its path.
        path: String,
        /// Number of the line.
        line: usize,
        /// The error in the line.
        reason: String,
    },
    /// The file is truncated or damaged.
    #[error("'{path}' is cut off or damaged: record the program again")]
    Cut {
        /// Its path.
        path: String,
    },
}
