//! Generalized requests, whose functions are the program's.

use std::ffi::{c_int, c_void};

use super::export;
use crate::arguments::{Argument, at};
use crate::convert::Convert;
use crate::handles::Request;
use crate::numbers::ErrorCode;
use crate::standard::standard;
use crate::status::{StandardStatus, Status};

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

/// The functions of a request, until it is freed.
struct Functions {
    query: Option<Query>,
    free: Option<Free>,
    cancel: Option<Cancel>,
    extra: *mut c_void,
}

unsafe extern "C" fn query(functions: *mut c_void, place: *mut StandardStatus) -> c_int {
    let functions = &*functions.cast::<Functions>();
    let Some(function) = functions.query else { return 0 };
    let mut status = Status::outward(*place);
    let code = function(functions.extra, &mut status);
    *place = Status::inward(status);
    ErrorCode::inward(code)
}

unsafe extern "C" fn free(functions: *mut c_void) -> c_int {
    let functions = Box::from_raw(functions.cast::<Functions>());
    functions.free.map_or(0, |function| ErrorCode::inward(function(functions.extra)))
}

unsafe extern "C" fn cancel(functions: *mut c_void, complete: c_int) -> c_int {
    let functions = &*functions.cast::<Functions>();
    functions.cancel.map_or(0, |function| ErrorCode::inward(function(functions.extra, complete)))
}

export!(MPI_Grequest_start PMPI_Grequest_start
    (query_function: Option<Query>, free_function: Option<Free>, cancel_function: Option<Cancel>,
     extra: *mut c_void, request: *mut c_int) -> c_int,
{
    let functions = Box::new(Functions {
        query: query_function,
        free: free_function,
        cancel: cancel_function,
        extra,
    });
    let mut request = at::<Request>(request);
    let start = standard!(MPI_Grequest_start: fn(
        unsafe extern "C" fn(*mut c_void, *mut StandardStatus) -> c_int,
        unsafe extern "C" fn(*mut c_void) -> c_int,
        unsafe extern "C" fn(*mut c_void, c_int) -> c_int,
        *mut c_void,
        *mut usize
    ) -> c_int);
    let code = start(query, free, cancel, Box::into_raw(functions).cast(), request.passed());
    request.give_back();
    ErrorCode::outward(code)
});
