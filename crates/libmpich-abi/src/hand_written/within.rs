//! Functions that MPICH's library for Fortran, `libmpifort.so.12`, calls inside MPICH: attributes, whose values are
//! numbers in Fortran. It also requires that attributes and requests of Fortran have functions of Fortran, which we
//! cannot call. A program that creates such a key or request ends with an error.

use std::ffi::{c_int, c_void};

use super::attribute::{MPI_Comm_get_attr, MPI_Win_get_attr};
use crate::bindings::functions::{
    MPI_Comm_set_attr::MPI_Comm_set_attr, MPI_Type_get_attr::MPI_Type_get_attr,
    MPI_Type_set_attr::MPI_Type_set_attr, MPI_Win_set_attr::MPI_Win_set_attr,
};
use crate::standard::fail;

/// Kind of a value that is one `int`. Other values are as wide as an address.
const INTEGER: c_int = 3;

/// Bits of a key that MPI itself sets, and of those keys whose value is a number in memory.
const PREDEFINED: c_int = 0x6400_0000;
const OF_WINDOWS: c_int = 0x6600_0000;
const WIN_BASE: c_int = 0x6600_0001;

type Get = unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut c_int) -> c_int;
type Set = unsafe extern "C" fn(c_int, c_int, *mut c_void) -> c_int;

/// Gets an attribute in Fortran's form: the number itself, where C has its address. Fortran's keys are those of C plus
/// one.
unsafe fn get(
    get: Get,
    object: c_int,
    key: c_int,
    place: *mut c_void,
    flag: *mut c_int,
    kind: c_int,
) -> c_int {
    let is_predefined = key & PREDEFINED == PREDEFINED;
    let of_fortran = is_predefined && key & 1 == 0;
    let key = if of_fortran { key - 1 } else { key };
    let mut value: *const c_void = std::ptr::null();
    let code = get(object, key, (&raw mut value).cast(), flag);
    if code != 0 || *flag == 0 {
        return code;
    }
    let number = match key {
        _ if !of_fortran || key == WIN_BASE => value as isize,
        // The size is as wide as an address, the others are `int`.
        _ if key == OF_WINDOWS + 3 => *value.cast::<isize>(),
        _ => *value.cast::<c_int>() as isize,
    };
    match kind {
        INTEGER => *place.cast() = number as c_int,
        _ => *place.cast() = number,
    }
    0
}

macro_rules! attributes {
    ($($get_name:ident = $get:ident, $set_name:ident = $set:ident);*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $get_name(
                object: c_int, key: c_int, place: *mut c_void, flag: *mut c_int, kind: c_int,
            ) -> c_int {
                get($get, object, key, place, flag, kind)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $set_name(object: c_int, key: c_int, value: *mut c_void, _kind: c_int) -> c_int {
                let set: Set = $set;
                set(object, key, value)
            }
        )*
    };
}

attributes!(
    MPII_Comm_get_attr = MPI_Comm_get_attr, MPII_Comm_set_attr = MPI_Comm_set_attr;
    MPII_Type_get_attr = MPI_Type_get_attr, MPII_Type_set_attr = MPI_Type_set_attr;
    MPII_Win_get_attr = MPI_Win_get_attr, MPII_Win_set_attr = MPI_Win_set_attr
);

#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Keyval_set_proxy(_key: c_int, _copy: *mut c_void, _delete: *mut c_void) {
    fail("keys of attributes with functions of Fortran are not possible");
}

#[unsafe(no_mangle)]
unsafe extern "C" fn MPII_Grequest_set_lang_f77(_request: c_int) {
    fail("generalised requests with functions of Fortran are not possible");
}
