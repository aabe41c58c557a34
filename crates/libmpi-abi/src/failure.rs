//! Error codes and their errors.

use std::ffi::c_int;

use mpi::ErrorClass;
pub(crate) use mpi::{Error, Result};

use crate::abi::*;

/// The classes that the library itself raises. Any other code is passed unchanged.
const CLASSES: &[(c_int, ErrorClass)] = &[
    (ERR_ACCESS, ErrorClass::Access),
    (ERR_AMODE, ErrorClass::Amode),
    (ERR_ARG, ErrorClass::Argument),
    (ERR_ASSERT, ErrorClass::Assertion),
    (ERR_BAD_FILE, ErrorClass::BadFile),
    (ERR_BUFFER, ErrorClass::Buffer),
    (ERR_COMM, ErrorClass::Communicator),
    (ERR_CONVERSION, ErrorClass::Conversion),
    (ERR_COUNT, ErrorClass::Count),
    (ERR_DIMS, ErrorClass::Dimensions),
    (ERR_DISP, ErrorClass::Displacement),
    (ERR_DUP_DATAREP, ErrorClass::DuplicateRepresentation),
    (ERR_ERRHANDLER, ErrorClass::ErrorHandler),
    (ERR_FILE, ErrorClass::File),
    (ERR_FILE_EXISTS, ErrorClass::FileExists),
    (ERR_FILE_IN_USE, ErrorClass::FileInUse),
    (ERR_GROUP, ErrorClass::Group),
    (ERR_INFO, ErrorClass::Info),
    (ERR_INFO_KEY, ErrorClass::InfoKey),
    (ERR_INFO_NOKEY, ErrorClass::InfoNoKey),
    (ERR_INFO_VALUE, ErrorClass::InfoValue),
    (ERR_INTERN, ErrorClass::Internal),
    (ERR_IN_STATUS, ErrorClass::InStatus),
    (ERR_IO, ErrorClass::InputOutput),
    (ERR_KEYVAL, ErrorClass::Key),
    (ERR_LOCKTYPE, ErrorClass::LockType),
    (ERR_NOT_SAME, ErrorClass::NotSame),
    (ERR_NO_MEM, ErrorClass::NoMemory),
    (ERR_NO_SPACE, ErrorClass::NoSpace),
    (ERR_NO_SUCH_FILE, ErrorClass::NoSuchFile),
    (ERR_OP, ErrorClass::Operation),
    (ERR_OTHER, ErrorClass::Other),
    (ERR_PENDING, ErrorClass::Pending),
    (ERR_PORT, ErrorClass::Port),
    (ERR_PROC_ABORTED, ErrorClass::ProcessAborted),
    (ERR_QUOTA, ErrorClass::Quota),
    (ERR_RANK, ErrorClass::Rank),
    (ERR_READ_ONLY, ErrorClass::ReadOnly),
    (ERR_REQUEST, ErrorClass::Request),
    (ERR_RMA_ATTACH, ErrorClass::RmaAttach),
    (ERR_RMA_FLAVOR, ErrorClass::RmaFlavor),
    (ERR_RMA_RANGE, ErrorClass::RmaRange),
    (ERR_RMA_SHARED, ErrorClass::RmaShared),
    (ERR_RMA_SYNC, ErrorClass::RmaSync),
    (ERR_ROOT, ErrorClass::Root),
    (ERR_SIZE, ErrorClass::Size),
    (ERR_TAG, ErrorClass::Tag),
    (ERR_TOPOLOGY, ErrorClass::Topology),
    (ERR_TRUNCATE, ErrorClass::Truncated),
    (ERR_TYPE, ErrorClass::Type),
    (ERR_UNSUPPORTED_DATAREP, ErrorClass::UnsupportedRepresentation),
    (ERR_UNSUPPORTED_OPERATION, ErrorClass::Unsupported),
    (ERR_WIN, ErrorClass::Window),
];

/// Returns the class of a code.
pub(crate) fn class_of(code: c_int) -> ErrorClass {
    let found = CLASSES.iter().find(|(its_code, _)| *its_code == code);
    found.map_or(ErrorClass::User(code), |(_, class)| *class)
}

/// Returns the code of a class.
pub(crate) fn code_of(class: ErrorClass) -> c_int {
    if let ErrorClass::User(code) = class {
        return code;
    }
    let found = CLASSES.iter().find(|(_, its_class)| *its_class == class);
    found.map_or(ERR_INTERN, |(code, _)| *code)
}

/// Creates an error with a code.
#[cold]
pub(crate) fn error_of(code: c_int, message: impl Into<String>) -> Error {
    Error::new(class_of(code), message)
}

/// Creates the error of unsupported functions of the tools interface.
pub(crate) fn no_tools() -> Error {
    error_of(T_ERR_NOT_SUPPORTED, "this library has no such tools interface")
}

/// Returns with a code and a message if a condition does not hold.
macro_rules! ensure {
    ($condition:expr, $code:expr, $($message:tt)*) => {
        if !$condition {
            return Err($crate::failure::error_of($code, format!($($message)*)));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_one_code_and_every_code_maps_back() {
        for &(code, class) in CLASSES {
            assert_eq!((code_of(class), class_of(code)), (code, class));
        }
        for code in [SUCCESS, ERR_SPAWN, T_ERR_NOT_SUPPORTED, ERR_LASTCODE + 7] {
            assert_eq!(code_of(class_of(code)), code);
        }
    }
}
