//! The boundary to C: the exported functions, which convert a result to a return code.

// As the data have it.
#[allow(unused_variables, clippy::useless_conversion)]
mod functions {
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

use std::ffi::c_int;

use crate::abi::*;
use crate::errors::{self, On};
use crate::failure::{Result, error_of};
use crate::threads;

/// Exports a function under its two names. A checked one returns an error code, a raw one its value.
///
/// Each has its body, although both are the same: a common body would be the frame that reports of waits find, and it
/// has no name of MPI's.
macro_rules! export {
    (checked $name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $r:ty, $on:expr, $body:expr) => {
        export!(raw $name $profiling ($($p: $t),*) -> $r, (), {
            let _ = ($($p,)*);
            call(stringify!($name), $on, || $body)
        });
    };
    (raw $name:ident $profiling:ident ($($p:ident: $t:ty),*) -> $r:ty, $on:expr, $body:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($p: $t),*) -> $r {
            // SAFETY: the caller of an MPI function passes the arguments that the standard requires.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $profiling($($p: $t),*) -> $r {
            // SAFETY: as above.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    };
}
pub(crate) use export;

/// Fails if the place of a result is missing.
#[inline]
fn filled<T>(place: *const T, name: &str) -> Result {
    if place.is_null() {
        return Err(error_of(ERR_ARG, format!("{name} is a null pointer")));
    }
    Ok(())
}

/// Converts a result to a code, after calling the error handler.
#[inline]
fn call(name: &'static str, on: On, body: impl FnOnce() -> Result) -> c_int {
    let _inside = threads::enter();
    match body() {
        Ok(()) => SUCCESS,
        Err(failure) => errors::raise(name, on, failure),
    }
}
