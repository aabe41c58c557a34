//! The boundary to C: the exported functions, which convert a result to a return code.

// As the data have it.
#[allow(unused_variables, clippy::useless_conversion)]
mod functions {
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

use std::ffi::c_int;

use call_stack::CallSite;

use crate::abi::*;
use crate::errors::{self, On};
use crate::failure::{Result, error_of};
use crate::threads;

/// Exports a function under its two names. A checked one returns an error code, a raw one its value.
///
/// Both names are of first instructions alone, which pass on where the program has called them. The body is exported, too, so
/// that its frame has a name in reports of waits.
macro_rules! export {
    (checked $name:ident $profiling:ident $body_name:ident ($($p:ident: $t:ty),*) -> $r:ty, $on:expr, $body:expr) => {
        export!(of $name $profiling $body_name ($($p: $t),*) -> $r, site, {
            let _ = ($($p,)*);
            call(stringify!($name), site, $on, || $body)
        });
    };
    (raw $name:ident $profiling:ident $body_name:ident ($($p:ident: $t:ty),*) -> $r:ty, $on:expr, $body:expr) => {
        export!(of $name $profiling $body_name ($($p: $t),*) -> $r, _site, $body);
    };
    (of $name:ident $profiling:ident $body_name:ident ($($p:ident: $t:ty),*) -> $r:ty, $site:ident, $body:expr) => {
        call_stack::export_entry!(fn $name($($p: $t),*) -> $r, $body_name);
        call_stack::export_entry!(fn $profiling($($p: $t),*) -> $r, $body_name);

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $body_name($($p: $t,)* $site: f64) -> $r {
            // SAFETY: the caller of an MPI function passes the arguments that the standard requires.
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
fn call(name: &'static str, site: f64, on: On, body: impl FnOnce() -> Result) -> c_int {
    let _inside = threads::enter();
    CallSite::begin(site.to_bits() as usize);
    match body() {
        Ok(()) => SUCCESS,
        Err(failure) => errors::raise(name, on, failure),
    }
}
