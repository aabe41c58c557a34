//! Conversion of errors of the kernels to errors of a program.

use contract::Error;

/// Returns an error or a wrong result of a kernel as an error of the program.
pub(crate) fn failed(error: kernels::Error) -> Error {
    Error::Program(error.to_string())
}
