//! Names of MPI-1 that later standards removed and MPICH's ABI keeps.

use std::ffi::{c_int, c_void};

use super::export;
use super::handler::MPI_Comm_create_errhandler;
use crate::arguments::{Argument, at, many_in};
use crate::convert::Convert;
use crate::handles::{Comm, Datatype, Errhandler};
use crate::numbers::ErrorCode;
use crate::standard::standard;

export!(MPI_Address PMPI_Address (location: *const c_void, address: *mut i64) -> c_int, {
    let get = standard!(MPI_Get_address: fn(*const c_void, *mut i64) -> c_int);
    ErrorCode::outward(get(location, address))
});

export!(MPI_Errhandler_create PMPI_Errhandler_create (function: *mut c_void, handler: *mut c_int) -> c_int, {
    MPI_Comm_create_errhandler(function, handler)
});

export!(MPI_Errhandler_get PMPI_Errhandler_get (comm: c_int, handler: *mut c_int) -> c_int, {
    let mut handler = at::<Errhandler>(handler);
    let get = standard!(MPI_Comm_get_errhandler: fn(usize, *mut usize) -> c_int);
    let code = get(Comm::inward(comm), handler.passed());
    handler.give_back();
    ErrorCode::outward(code)
});

export!(MPI_Errhandler_set PMPI_Errhandler_set (comm: c_int, handler: c_int) -> c_int, {
    let set = standard!(MPI_Comm_set_errhandler: fn(usize, usize) -> c_int);
    ErrorCode::outward(set(Comm::inward(comm), Errhandler::inward(handler)))
});

/// Gets the lower bound and the extent of a datatype.
unsafe fn extent(datatype: c_int, lower: &mut i64, extent: &mut i64) -> c_int {
    let get = standard!(MPI_Type_get_extent: fn(usize, *mut i64, *mut i64) -> c_int);
    ErrorCode::outward(get(Datatype::inward(datatype), lower, extent))
}

export!(MPI_Type_extent PMPI_Type_extent (datatype: c_int, place: *mut i64) -> c_int, {
    let mut lower = 0;
    extent(datatype, &mut lower, &mut *place)
});

export!(MPI_Type_lb PMPI_Type_lb (datatype: c_int, place: *mut i64) -> c_int, {
    let mut length = 0;
    extent(datatype, &mut *place, &mut length)
});

export!(MPI_Type_ub PMPI_Type_ub (datatype: c_int, place: *mut i64) -> c_int, {
    let (mut lower, mut length) = (0, 0);
    let code = extent(datatype, &mut lower, &mut length);
    *place = lower + length;
    code
});

export!(MPI_Type_hvector PMPI_Type_hvector
    (count: c_int, length: c_int, stride: i64, old: c_int, made: *mut c_int) -> c_int,
{
    let mut made = at::<Datatype>(made);
    let make = standard!(MPI_Type_create_hvector: fn(c_int, c_int, i64, usize, *mut usize) -> c_int);
    let code = make(count, length, stride, Datatype::inward(old), made.passed());
    made.give_back();
    ErrorCode::outward(code)
});

export!(MPI_Type_hindexed PMPI_Type_hindexed
    (count: c_int, lengths: *const c_int, places: *const i64, old: c_int, made: *mut c_int) -> c_int,
{
    let mut made = at::<Datatype>(made);
    let make = standard!(MPI_Type_create_hindexed:
        fn(c_int, *const c_int, *const i64, usize, *mut usize) -> c_int);
    let code = make(count, lengths, places, Datatype::inward(old), made.passed());
    made.give_back();
    ErrorCode::outward(code)
});

export!(MPI_Type_struct PMPI_Type_struct
    (count: c_int, lengths: *const c_int, places: *const i64, types: *const c_int, made: *mut c_int) -> c_int,
{
    let (mut types, mut made) = (many_in::<Datatype>(types, count), at::<Datatype>(made));
    let make = standard!(MPI_Type_create_struct:
        fn(c_int, *const c_int, *const i64, *mut usize, *mut usize) -> c_int);
    let code = make(count, lengths, places, types.passed(), made.passed());
    made.give_back();
    ErrorCode::outward(code)
});
