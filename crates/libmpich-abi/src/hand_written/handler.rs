//! Error handlers of the program.

use std::ffi::{c_int, c_void};

use super::export;
use super::slots::{Slots, all_slots, create};
use crate::convert::Convert;
use crate::handles::{Comm, Errhandler, File, Session, Win};
use crate::numbers::ErrorCode;
use crate::standard::standard;

/// Calls a handler of the program for an object.
#[inline(never)] // 256 functions for each type of object do nothing else.
unsafe fn call<Object: Convert<Standard = usize>>(
    function: *mut c_void,
    object: *mut usize,
    code: *mut c_int,
) {
    type Function<Foreign> = unsafe extern "C" fn(*mut Foreign, *mut c_int, ...);
    let function = std::mem::transmute::<*mut c_void, Function<Object::Foreign>>(function);
    let (mut object, mut code) = (Object::outward(*object), ErrorCode::outward(*code));
    function(&mut object, &mut code);
}

/// Exports the function that creates handlers for one type of object. `$of` is the module of the functions of such
/// handlers.
macro_rules! handler {
    ($name:ident $profiling:ident, $of:ident, $object:ident) => {
        mod $of {
            use super::*;

            pub(super) static FUNCTIONS: Slots = Slots::new();

            /// Stands for the function in a place of [`FUNCTIONS`].
            pub(super) unsafe extern "C" fn handle<const A: usize, const B: usize>(
                object: *mut usize,
                code: *mut c_int,
            ) {
                call::<$object>(FUNCTIONS.function(16 * A + B), object, code);
            }
        }

        export!($name $profiling (function: *mut c_void, handler: *mut c_int) -> c_int, {
            use $of::handle;
            create::<Errhandler>(&$of::FUNCTIONS, all_slots!(handle), function, |stand_in, place| {
                standard!($name: fn(*mut c_void, *mut usize) -> c_int)(stand_in, place)
            }, handler)
        });
    };
}

handler!(MPI_Comm_create_errhandler PMPI_Comm_create_errhandler, communicators, Comm);
handler!(MPI_Win_create_errhandler PMPI_Win_create_errhandler, windows, Win);
handler!(MPI_File_create_errhandler PMPI_File_create_errhandler, files, File);
handler!(MPI_Session_create_errhandler PMPI_Session_create_errhandler, sessions, Session);
