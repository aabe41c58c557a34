//! Keys of attributes, with the program's functions that copy and delete values.

use std::ffi::{c_int, c_void};

use super::export;
use crate::convert::Convert;
use crate::handles::{Comm, Datatype, Win};
use crate::numbers::{ErrorCode, KeyValue};
use crate::standard::standard;

type Copy =
    unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;
type Delete = unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut c_void) -> c_int;

/// The functions of a key. They are never freed, because values may outlive their key.
struct Functions {
    copy: *mut c_void,
    delete: *mut c_void,
    extra: *mut c_void,
}

unsafe extern "C" fn copy<O: Convert<Foreign = c_int, Standard = usize>>(
    object: usize,
    key: c_int,
    functions: *mut c_void,
    value: *mut c_void,
    copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    let functions = &*functions.cast::<Functions>();
    let function = std::mem::transmute::<*mut c_void, Copy>(functions.copy);
    let (object, key) = (O::outward(object), KeyValue::outward(key));
    ErrorCode::inward(function(object, key, functions.extra, value, copied, flag))
}

unsafe extern "C" fn delete<O: Convert<Foreign = c_int, Standard = usize>>(
    object: usize,
    key: c_int,
    value: *mut c_void,
    functions: *mut c_void,
) -> c_int {
    let functions = &*functions.cast::<Functions>();
    let function = std::mem::transmute::<*mut c_void, Delete>(functions.delete);
    let (object, key) = (O::outward(object), KeyValue::outward(key));
    ErrorCode::inward(function(object, key, value, functions.extra))
}

/// Exports the function that creates keys for one type of object.
macro_rules! create {
    ($name:ident $profiling:ident, $object:ident, $standard:ident) => {
        export!($name $profiling
            (copy_function: *mut c_void, delete_function: *mut c_void, key: *mut c_int, extra: *mut c_void) -> c_int,
        {
            let functions =
                Box::new(Functions { copy: copy_function, delete: delete_function, extra });
            // The null functions are null in both ABIs.
            let given = |function: *mut c_void, ours: *const c_void| {
                if function.is_null() { function } else { ours.cast_mut() }
            };
            let create = standard!($standard:
                fn(*mut c_void, *mut c_void, *mut c_int, *mut c_void) -> c_int);
            let code = create(
                given(copy_function, copy::<$object> as *const c_void),
                given(delete_function, delete::<$object> as *const c_void),
                key,
                Box::into_raw(functions).cast(),
            );
            ErrorCode::outward(code)
        });
    };
}

create!(MPI_Comm_create_keyval PMPI_Comm_create_keyval, Comm, MPI_Comm_create_keyval);
create!(MPI_Keyval_create PMPI_Keyval_create, Comm, MPI_Comm_create_keyval);
create!(MPI_Type_create_keyval PMPI_Type_create_keyval, Datatype, MPI_Type_create_keyval);
create!(MPI_Win_create_keyval PMPI_Win_create_keyval, Win, MPI_Win_create_keyval);

/// Copies the value: MPI_DUP_FN, MPI_COMM_DUP_FN and similar are this ordinary function in this ABI.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPIR_Dup_fn(
    _object: c_int,
    _key: c_int,
    _extra: *mut c_void,
    value: *mut c_void,
    copied: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    *copied.cast() = value;
    *flag = 1;
    0
}
