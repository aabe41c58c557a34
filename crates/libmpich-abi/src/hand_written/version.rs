//! The version of the standard ABI, which this library does not have.

use std::ffi::c_int;

use super::export;
use crate::convert::Convert;
use crate::numbers::ErrorCode;
use crate::standard::standard;

/// The major and minor version of a library without the standard ABI. PyPI's mpi4py and others choose by it what they
/// load.
const NOT_STANDARD: c_int = -1;

export!(MPI_Abi_get_version PMPI_Abi_get_version (major: *mut c_int, minor: *mut c_int) -> c_int, {
    let get = standard!(MPI_Abi_get_version: fn(*mut c_int, *mut c_int) -> c_int);
    let code = get(major, minor);
    if code == 0 {
        // The other library has refused null pointers.
        (*major, *minor) = (NOT_STANDARD, NOT_STANDARD);
    }
    ErrorCode::outward(code)
});
