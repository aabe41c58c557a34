//! Why a call failed, as a value.

use std::fmt;
use std::ops::Deref;

/// What calls return.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// What kind of mistake an error is: MPI's error classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A wrong argument of a kind that has no class of its own.
    Argument,
    /// A buffer that is missing, too small, or overlaps another.
    Buffer,
    /// Not a communicator, or one that the call cannot use.
    Communicator,
    /// Data that the wanted representation cannot hold.
    Conversion,
    /// A count that is negative or too large.
    Count,
    /// Dimensions of a topology that do not fit.
    Dimensions,
    /// Not an error handler.
    ErrorHandler,
    /// Not a group, or one that does not fit.
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
    /// The library contradicts itself.
    Internal,
    /// Not a key of attributes, or one of other objects.
    Key,
    /// Memory that could not be had.
    NoMemory,
    /// Not a reduction operation, or one that is not defined for the datatype.
    Operation,
    /// Any other error.
    Other,
    /// One of several requests is neither complete nor failed.
    Pending,
    /// Another rank has died, or the run was given up.
    ProcessAborted,
    /// A rank that does not exist.
    Rank,
    /// Not a request, or one in the wrong state.
    Request,
    /// A root that does not exist.
    Root,
    /// A tag that cannot be.
    Tag,
    /// A communicator without the topology that the call needs.
    Topology,
    /// More data than the receiver has room for, or lengths that differ between the ranks.
    Truncated,
    /// Not a datatype, or one that was not committed.
    Type,
    /// Not a window.
    Window,
    /// Assertions that mean nothing for the call.
    Assertion,
    /// A displacement or a unit of displacements that cannot be.
    Displacement,
    /// A size that cannot be.
    Size,
    /// Neither a shared nor an exclusive lock.
    LockType,
    /// Memory that cannot be attached to a window.
    RmaAttach,
    /// A call that this kind of window does not have.
    RmaFlavor,
    /// Memory outside of a window.
    RmaRange,
    /// Memory that the members cannot share.
    RmaShared,
    /// Calls for the synchronisation of a window in an order that cannot be.
    RmaSync,
    /// Something that this library cannot do.
    Unsupported,
    /// A file that may not be used so.
    Access,
    /// A mode of a file that contradicts itself.
    Amode,
    /// A port that is not open, or no name of one.
    Port,
    /// A name that no file can have.
    BadFile,
    /// A data representation that exists already.
    DuplicateRepresentation,
    /// Not a file.
    File,
    /// A file that exists where it must not.
    FileExists,
    /// A file that somebody else uses.
    FileInUse,
    /// What the system says when it cannot read or write.
    InputOutput,
    /// A device without room for more.
    NoSpace,
    /// A file that does not exist.
    NoSuchFile,
    /// Members that do not give the same arguments.
    NotSame,
    /// A user who may not have more room.
    Quota,
    /// A file, or a file system, that is only read.
    ReadOnly,
    /// A data representation that there is not.
    UnsupportedRepresentation,
    /// A class or code that is not of this library: a program's own.
    User(i32),
}

/// An error: its class and what to say about it.
///
/// The details lie behind a pointer, so that a [`Result`] fits a register. In memory a result would be written
/// in parts and read as a whole, and such a read waits until all earlier writes have reached their cache lines,
/// also lines that another processor holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorDetails>);

/// What an [`Error`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorDetails {
    /// The kind of mistake.
    pub class: ErrorClass,
    /// What is wrong, with the value that is.
    pub message: String,
    /// The number of the communicator's context, where the call itself names no communicator, as a wait does not.
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
    /// Returns an error that belongs to no communicator.
    #[cold]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Error(Box::new(ErrorDetails { class, message: message.into(), context: None }))
    }

    /// The same error, of the communicator with this context.
    #[must_use]
    pub fn in_context(mut self, context: u32) -> Self {
        self.0.context = Some(context);
        self
    }

    /// The same error with another class and other words.
    #[must_use]
    pub fn told_as(mut self, class: ErrorClass, message: impl Into<String>) -> Self {
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
            Cause::Aborted { .. } | Cause::RankDied { .. } => ErrorClass::ProcessAborted,
            Cause::OutOfWindow { .. } => ErrorClass::RmaRange,
            Cause::InvalidRank { .. } => ErrorClass::Rank,
            Cause::UnequalCounts { .. } | Cause::Truncated { .. } => ErrorClass::Truncated,
            _ => ErrorClass::Other,
        };
        Error::new(class, error.to_string())
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
    fn an_error_names_its_class_and_what_is_wrong() {
        assert_eq!(checked(0), Ok(()));
        let error = checked(-3).unwrap_err();
        assert_eq!((error.class, error.context), (ErrorClass::Count, None));
        assert_eq!(error.to_string(), "Count: a count of -3");
        let error = error.in_context(7).told_as(ErrorClass::InStatus, "one of two");
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
    }
}
