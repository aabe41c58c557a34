//! Errors of the kernels, as errors of a program.

use contract::Error;

/// A refusal of a kernel, or its wrong result, as an error of the program.
pub(crate) fn failed(error: kernels::Error) -> Error {
    Error::Program(error.to_string())
}
