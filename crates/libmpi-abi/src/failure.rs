//! Why a call failed.

use std::ffi::c_int;

use crate::bindings::*;

/// What nearly every function here returns.
pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// An error class or code of MPI, and what to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: c_int,
    pub(crate) message: String,
    /// The context of the communicator that it belongs to, where the call names none, as a wait does.
    pub(crate) context: Option<u32>,
}

impl Failure {
    pub(crate) fn new(code: c_int, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), context: None }
    }

    /// Of a communicator.
    pub(crate) fn in_context(self, context: u32) -> Self {
        Failure { context: Some(context), ..self }
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
