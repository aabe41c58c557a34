//! Representations of data in files, with the program's functions that convert them.

use std::ffi::{c_char, c_int, c_void};

use super::export;
use crate::convert::Convert;
use crate::handles::Datatype;
use crate::numbers::ErrorCode;
use crate::standard::standard;

type Conversion<N> =
    unsafe extern "C" fn(*mut c_void, c_int, N, *mut c_void, i64, *mut c_void) -> c_int;
type Extent = unsafe extern "C" fn(c_int, *mut isize, *mut c_void) -> c_int;

/// The functions of a representation, which is never freed.
struct Functions {
    read: *mut c_void,
    write: *mut c_void,
    extent: Option<Extent>,
    extra: *mut c_void,
}

/// Converts data from a file, or to it if `WRITES`.
unsafe extern "C" fn convert<N, const WRITES: bool>(
    memory: *mut c_void,
    datatype: usize,
    count: N,
    file: *mut c_void,
    position: i64,
    functions: *mut c_void,
) -> c_int {
    let functions = &*functions.cast::<Functions>();
    let function = if WRITES { functions.write } else { functions.read };
    let function = std::mem::transmute::<*mut c_void, Conversion<N>>(function);
    let datatype = Datatype::outward(datatype);
    ErrorCode::inward(function(memory, datatype, count, file, position, functions.extra))
}

unsafe extern "C" fn extent(datatype: usize, extent: *mut isize, functions: *mut c_void) -> c_int {
    let functions = &*functions.cast::<Functions>();
    let Some(function) = functions.extent else { return 0 };
    ErrorCode::inward(function(Datatype::outward(datatype), extent, functions.extra))
}

/// Exports the function that registers representations with functions for counts of one type.
macro_rules! register {
    ($name:ident $profiling:ident, $count:ty) => {
        export!($name $profiling
            (name: *const c_char, reads: *mut c_void, writes: *mut c_void, extents: Option<Extent>,
             extra: *mut c_void) -> c_int,
        {
            let functions = Box::new(Functions { read: reads, write: writes, extent: extents, extra });
            // MPI_CONVERSION_FN_NULL is null in both ABIs.
            let given = |function: *mut c_void, ours: *const c_void| {
                if function.is_null() { function } else { ours.cast_mut() }
            };
            let register = standard!($name:
                fn(*const c_char, *mut c_void, *mut c_void, *const c_void, *mut c_void) -> c_int);
            let code = register(
                name,
                given(reads, convert::<$count, false> as *const c_void),
                given(writes, convert::<$count, true> as *const c_void),
                extent as *const c_void,
                Box::into_raw(functions).cast(),
            );
            ErrorCode::outward(code)
        });
    };
}

register!(MPI_Register_datarep PMPI_Register_datarep, c_int);
register!(MPI_Register_datarep_c PMPI_Register_datarep_c, i64);
