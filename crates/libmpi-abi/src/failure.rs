//! Why a call failed.

use std::ffi::c_int;
use std::ops::Deref;

use crate::bindings::*;

/// What nearly every function here returns.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// An error class or code of MPI, and what to say about it. Behind a pointer, so that a [`Result`] fits a register: in memory it would
/// be written in parts and read as a whole, which waits until all that was written before has reached its lines, also those that
/// another processor has (reduce of 64 bytes: 60 ns of the 140 of a rank that only gives).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Details {
    pub(crate) code: c_int,
    pub(crate) message: String,
    /// The context of the communicator that it belongs to, where the call names none, as a wait does.
    pub(crate) context: Option<u32>,
}

const _: () = assert!(size_of::<Result>() == size_of::<usize>());

impl Deref for Failure {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Failure {
    #[cold]
    pub(crate) fn new(code: c_int, message: impl Into<String>) -> Self {
        Failure(Box::new(Details { code, message: message.into(), context: None }))
    }

    /// Of a communicator.
    pub(crate) fn in_context(mut self, context: u32) -> Self {
        self.0.context = Some(context);
        self
    }

    /// With another code, and other words.
    pub(crate) fn told_as(mut self, code: c_int, message: String) -> Self {
        (self.0.code, self.0.message) = (code, message);
        self
    }

    /// A function that nothing here serves.
    pub(crate) fn unsupported() -> Self {
        Failure::new(ERR_UNSUPPORTED_OPERATION, "this library does not have this function yet")
    }

    /// A function of the tools interface that nothing here serves.
    pub(crate) fn tools() -> Self {
        Failure::new(T_ERR_NOT_SUPPORTED, "this library has no such tools interface")
    }
}

/// Stops with a class and a message if a condition does not hold.
macro_rules! ensure {
    ($condition:expr, $class:expr, $($message:tt)*) => {
        if !$condition {
            return Err($crate::failure::Failure::new($class, format!($($message)*)));
        }
    };
}
pub(crate) use ensure;

impl From<contract::Error> for Failure {
    fn from(error: contract::Error) -> Self {
        use contract::Error;
        let class = match error {
            Error::Aborted { .. } | Error::RankDied { .. } => ERR_PROC_ABORTED,
            Error::UnequalCounts { .. } | Error::Truncated { .. } => ERR_TRUNCATE,
            _ => ERR_OTHER,
        };
        Failure::new(class, error.to_string())
    }
}
