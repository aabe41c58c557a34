//! Reduction operations of the program.

use std::ffi::{c_int, c_void};

use super::export;
use super::slots::{Slots, all_slots, create};
use crate::convert::Convert;
use crate::handles::{Datatype, Op};
use crate::standard::standard;

type Function<N> = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut N, *mut c_int);

static SMALL: Slots = Slots::new();
static LARGE: Slots = Slots::new();

/// Stands for a function in a place of [`SMALL`].
unsafe extern "C" fn small<const A: usize, const B: usize>(
    from: *mut c_void,
    to: *mut c_void,
    count: *mut c_int,
    datatype: *mut usize,
) {
    apply::<c_int>(SMALL.function(16 * A + B), from, to, count, *datatype);
}

/// Stands for a function in a place of [`LARGE`].
unsafe extern "C" fn large<const A: usize, const B: usize>(
    from: *mut c_void,
    to: *mut c_void,
    count: *mut i64,
    datatype: *mut usize,
) {
    apply::<i64>(LARGE.function(16 * A + B), from, to, count, *datatype);
}

#[inline(never)] // 256 functions for each kind of count do nothing else.
unsafe fn apply<N>(
    function: *mut c_void,
    from: *mut c_void,
    to: *mut c_void,
    count: *mut N,
    datatype: usize,
) {
    let mut datatype = Datatype::outward(datatype);
    let function = std::mem::transmute::<*mut c_void, Function<N>>(function);
    function(from, to, count, &mut datatype);
}

export!(MPI_Op_create PMPI_Op_create (function: *mut c_void, commute: c_int, op: *mut c_int) -> c_int, {
    create::<Op>(&SMALL, all_slots!(small), function, |stand_in, place| {
        standard!(MPI_Op_create: fn(*mut c_void, c_int, *mut usize) -> c_int)(stand_in, commute, place)
    }, op)
});

export!(MPI_Op_create_c PMPI_Op_create_c (function: *mut c_void, commute: c_int, op: *mut c_int) -> c_int, {
    create::<Op>(&LARGE, all_slots!(large), function, |stand_in, place| {
        standard!(MPI_Op_create_c: fn(*mut c_void, c_int, *mut usize) -> c_int)(stand_in, commute, place)
    }, op)
});
