//! Error handlers of programs.

use std::ffi::{c_int, c_void};

use super::export;
use super::slots::{Slots, all_slots, stand_in};
use crate::arguments::{Argument, at};
use crate::convert::Convert;
use crate::handles::{Comm, Errhandler, File, Session, Win};
use crate::numbers::ErrorCode;
use crate::standard::standard;

/// Exports what makes handlers for one type of object, and what stands for the functions of such handlers.
macro_rules! handler {
    ($name:ident $profiling:ident, $object:ident) => {
        export!($name $profiling (function: *mut c_void, handler: *mut c_int) -> c_int, {
            type Function = unsafe extern "C" fn(*mut <$object as Convert>::Foreign, *mut c_int, ...);
            static FUNCTIONS: Slots = Slots::new();
            unsafe extern "C" fn handle<const A: usize, const B: usize>(
                object: *mut usize,
                code: *mut c_int,
            ) {
                let function = FUNCTIONS.function(16 * A + B);
                let function = std::mem::transmute::<*mut c_void, Function>(function);
                let (mut object, mut code) = ($object::outward(*object), ErrorCode::outward(*code));
                function(&mut object, &mut code);
            }
            // A null pointer is refused there.
            let place = if function.is_null() { None } else { FUNCTIONS.place(function) };
            let passed = place.map_or(std::ptr::null_mut(), |place| stand_in(all_slots!(handle), place));
            let mut handler = at::<Errhandler>(handler);
            let code = standard!($name: fn(*mut c_void, *mut usize) -> c_int)(passed, handler.passed());
            handler.give_back();
            ErrorCode::outward(code)
        });
    };
}

handler!(MPI_Comm_create_errhandler PMPI_Comm_create_errhandler, Comm);
handler!(MPI_Win_create_errhandler PMPI_Win_create_errhandler, Win);
handler!(MPI_File_create_errhandler PMPI_File_create_errhandler, File);
handler!(MPI_Session_create_errhandler PMPI_Session_create_errhandler, Session);
