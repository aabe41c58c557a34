//! The border to C: handles, constants, and the exported functions.

#[rustfmt::skip] // Generated, like the next.
mod constants;
#[rustfmt::skip]
mod functions;

pub(crate) use constants::*;

use std::ffi::c_int;

use crate::errors;
use crate::failure::{Failure, Result};

/// Declares a handle as the pointer that C sees.
macro_rules! handle {
    ($name:ident) => {
        /// A handle; small numbers are predefined ones.
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(pub(crate) usize);

        impl crate::handle::Handle for $name {
            fn number(self) -> usize {
                self.0
            }

            fn from_number(number: usize) -> Self {
                $name(number)
            }
        }
    };
}
pub(crate) use handle;

/// Exports a function under its two names. A checked one returns an error code, a raw one its value.
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
            // SAFETY: the caller of an MPI function passes what the standard asks for.
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

/// Whose error handler a failure goes to.
pub(crate) enum On {
    /// The communicator's, if there is such a communicator.
    Communicator(Comm),
    /// That of MPI_COMM_SELF: the call names no communicator.
    Process,
    /// The default of files, which is to return.
    File,
    /// None: the tools interface only returns.
    Nobody,
}

/// Fails if the place of a result is missing.
#[inline]
fn filled<T>(place: *const T, name: &str) -> Result {
    if place.is_null() {
        return Err(Failure::new(ERR_ARG, format!("{name} is a null pointer")));
    }
    Ok(())
}

/// Turns a result into a code, after the error handler has had its say.
#[inline]
fn call(name: &'static str, on: On, body: impl FnOnce() -> Result) -> c_int {
    match body() {
        Ok(()) => SUCCESS,
        Err(failure) => errors::raise(name, on, failure),
    }
}
