//! Errors of calls, as values.

use std::fmt;
use std::ops::Deref;

/// Result of a call.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// The kind of an error: MPI's error classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A wrong argument of a kind that has no class of its own.
    Argument,
    /// A buffer that is missing, too small, or overlaps another.
    Buffer,
    /// Not a communicator, or one that the call cannot use.
    Communicator,
    /// Data that the requested representation cannot hold.
    Conversion,
    /// A count that is negative or too large.
    Count,
    /// Dimensions of a topology that do not fit its size.
    Dimensions,
    /// Not an error handler.
    ErrorHandler,
    /// Not a group, or an unsuitable one.
    Group,
    /// Some of several requests failed; each status says which.
    InStatus,
    /// Not an info object, or one that cannot be changed.
    Info,
    /// A key of an info object that is empty or too long.
    InfoKey,
    /// A key that an info object does not have.
    InfoNoKey,
    /// A value of an info object that is missing or too long.
    InfoValue,
    /// An internal inconsistency of the library.
    Internal,
    /// Not a key of attributes, or one of other objects.
    Key,
    /// Memory that could not be allocated.
    NoMemory,
    /// Not a reduction operation, or one that is not defined for the datatype.
    Operation,
    /// Any other error.
    Other,
    /// One of several requests is neither complete nor failed.
    Pending,
    /// Another rank has died, or the run was aborted.
    ProcessAborted,
    /// A rank that does not exist.
    Rank,
    /// Not a request, or one in the wrong state.
    Request,
    /// A root that does not exist.
    Root,
    /// An invalid tag.
    Tag,
    /// A communicator without the topology that the call needs.
    Topology,
    /// More data than the receiver has room for, or lengths that differ between the ranks.
    Truncated,
    /// Not a datatype, or one that was not committed.
    Type,
    /// Not a window.
    Window,
    /// Assertions that the call does not support.
    Assertion,
    /// An invalid displacement, or unit of displacements.
    Displacement,
    /// An invalid size.
    Size,
    /// Neither a shared nor an exclusive lock.
    LockType,
    /// Memory that cannot be attached to a window.
    RmaAttach,
    /// A call that this kind of window does not support.
    RmaFlavor,
    /// Memory outside of a window.
    RmaRange,
    /// Memory that the members cannot share.
    RmaShared,
    /// Synchronisation calls of a window in an invalid order.
    RmaSync,
    /// Something that this library does not support.
    Unsupported,
    /// A file that may not be used in this way.
    Access,
    /// A mode of a file that contradicts itself.
    Amode,
    /// A port that is not open, or an invalid name of one.
    Port,
    /// An invalid name of a file.
    BadFile,
    /// A data representation that exists already.
    DuplicateRepresentation,
    /// Not a file.
    File,
    /// A file that exists where it must not.
    FileExists,
    /// A file that somebody else uses.
    FileInUse,
    /// An error of the system while reading or writing.
    InputOutput,
    /// A device without free space.
    NoSpace,
    /// A file that does not exist.
    NoSuchFile,
    /// Members that pass different arguments.
    NotSame,
    /// A user's quota is exceeded.
    Quota,
    /// A read-only file or file system.
    ReadOnly,
    /// An unknown data representation.
    UnsupportedRepresentation,
    /// A class or code that the program has defined.
    User(i32),
}

/// An error: its class and its message.
///
/// The details lie behind a pointer, so that a [`Result`] fits a register. In memory a result would be written in parts
/// and read as a whole, and such a read waits until all earlier writes have reached their cache lines, also lines that
/// another processor owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorDetails>);

/// The details of an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorDetails {
    /// Class of the error.
    pub class: ErrorClass,
    /// Description of the error, with the wrong value.
    pub message: String,
    /// Number of the communicator's context, if the call itself names no communicator, as a wait does not.
    pub context: Option<u32>,
}

const _: () = assert!(size_of::<Result>() == size_of::<usize>());

impl Deref for Error {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl Error {
    /// Creates an error that belongs to no communicator.
    #[cold]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Error(Box::new(ErrorDetails { class, message: message.into(), context: None }))
    }

    /// Returns the error with the context of its communicator.
    #[must_use]
    pub fn in_context(mut self, context: u32) -> Self {
        self.0.context = Some(context);
        self
    }

    /// Returns the error with another class and message.
    #[must_use]
    pub fn with_class(mut self, class: ErrorClass, message: impl Into<String>) -> Self {
        (self.0.class, self.0.message) = (class, message.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.class, self.message)
    }
}

impl std::error::Error for Error {}

impl From<contract::Error> for Error {
    #[cold]
    fn from(error: contract::Error) -> Self {
        use contract::Error as Cause;
        let class = match error {
            Cause::Aborted { .. } | Cause::RankDied { .. } | Cause::RankEnded { .. } => {
                ErrorClass::ProcessAborted
            }
            Cause::OutOfWindow { .. } => ErrorClass::RmaRange,
            Cause::InvalidRank { .. } => ErrorClass::Rank,
            Cause::UnequalCounts { .. } | Cause::Truncated { .. } => ErrorClass::Truncated,
            _ => ErrorClass::Other,
        };
        match error {
            Cause::RankEnded { rank, before } => {
                Error::new(class, format!("rank {rank} came to MPI_Finalize before {before}"))
            }
            error => Error::new(class, error.to_string()),
        }
    }
}

/// Returns an error of a class, with a formatted message, if a condition does not hold.
macro_rules! ensure {
    ($condition:expr, $class:expr, $($message:tt)*) => {
        if !$condition {
            return Err($crate::error::Error::new($class, format!($($message)*)));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(count: i64) -> Result {
        ensure!(count >= 0, ErrorClass::Count, "a count of {count}");
        Ok(())
    }

    #[test]
    fn an_error_names_its_class_and_its_cause() {
        assert_eq!(checked(0), Ok(()));
        let error = checked(-3).unwrap_err();
        assert_eq!((error.class, error.context), (ErrorClass::Count, None));
        assert_eq!(error.to_string(), "Count: a count of -3");
        let error = error.in_context(7).with_class(ErrorClass::InStatus, "one of two");
        assert_eq!(
            (error.class, error.context, &*error.message),
            (ErrorClass::InStatus, Some(7), "one of two")
        );
    }

    #[test]
    fn errors_of_the_contract_get_the_class_that_fits() {
        let died = contract::Error::RankDied { rank: 3, how: "signal 9".into() };
        let error = Error::from(died);
        assert_eq!(error.class, ErrorClass::ProcessAborted);
        assert!(error.message.contains("rank 3"), "{error}");
        let ended = contract::Error::RankEnded { rank: 3, before: "it sent a message".into() };
        let error = Error::from(ended);
        assert_eq!(error.class, ErrorClass::ProcessAborted);
        assert_eq!(error.message, "rank 3 came to MPI_Finalize before it sent a message");
    }
}
