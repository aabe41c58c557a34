//! Arguments of C functions: data, arrays, and numbers that are `int` in one variant of a function and wider in the
//! other.

use std::ffi::{c_int, c_void};

use crate::abi::{Datatype, ERR_ARG, IN_PLACE, Op, UNDEFINED};
use crate::failure::{Result, ensure};

/// Data: their address, number of elements, and datatype.
#[derive(Clone, Copy)]
pub(crate) struct Data {
    pub(crate) start: *const c_void,
    pub(crate) count: i64,
    pub(crate) of: Datatype,
}

/// Blocks of data, each with its count and place: elements of one type, or (if `T` is an array) bytes and a type for
/// each.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<T> {
    pub(crate) start: *const c_void,
    pub(crate) counts: IntOrCount,
    pub(crate) places: IntOrCount,
    pub(crate) of: T,
}

/// Operands of a reduction: their address, the destination of the result, the number of elements (or, as an array, that
/// for each rank), their type, and the operation.
#[derive(Clone, Copy)]
pub(crate) struct Operands<N> {
    pub(crate) from: *const c_void,
    pub(crate) to: *const c_void,
    pub(crate) count: N,
    pub(crate) of: Datatype,
    pub(crate) op: Op,
}

/// Elements of a member's part of a window: displacement, number, and type.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) rank: c_int,
    pub(crate) displacement: i64,
    pub(crate) count: i64,
    pub(crate) of: Datatype,
}

/// The other side of a message.
#[derive(Clone, Copy)]
pub(crate) struct Partner {
    pub(crate) rank: c_int,
    pub(crate) tag: c_int,
}

pub(crate) fn is_in_place(start: *const c_void) -> bool {
    start as usize == IN_PLACE
}

impl Data {
    #[inline(always)]
    pub(crate) fn new(start: *const c_void, count: i64, of: Datatype) -> Self {
        Data { start, count, of }
    }
}

impl<T> Blocks<T> {
    pub(crate) fn new(start: *const c_void, counts: IntOrCount, places: IntOrCount, of: T) -> Self {
        Blocks { start, counts, places, of }
    }
}

impl<N> Operands<N> {
    #[inline(always)]
    pub(crate) fn new(
        from: *const c_void,
        to: *const c_void,
        count: N,
        of: Datatype,
        op: Op,
    ) -> Self {
        Operands { from, to, count, of, op }
    }

    /// Returns the operands with another count.
    #[inline(always)]
    pub(crate) fn of_count<M>(self, count: M) -> Operands<M> {
        Operands { from: self.from, to: self.to, count, of: self.of, op: self.op }
    }
}

impl Target {
    #[inline(always)]
    pub(crate) fn new(rank: c_int, displacement: i64, count: i64, of: Datatype) -> Self {
        Target { rank, displacement, count, of }
    }
}

impl Partner {
    #[inline(always)]
    pub(crate) fn new(rank: c_int, tag: c_int) -> Self {
        Partner { rank, tag }
    }
}

/// Returns an array of the caller, which may be null only if it is empty.
///
/// # Safety
/// The array has `count` elements and does not change.
pub(crate) unsafe fn array<'a, T>(start: *const T, count: c_int, name: &str) -> Result<&'a [T]> {
    ensure!(count >= 0, ERR_ARG, "{count} {name}");
    if count == 0 {
        return Ok(&[]);
    }
    ensure!(!start.is_null(), ERR_ARG, "{name} is a null pointer");
    // SAFETY: the caller promises the same.
    Ok(unsafe { std::slice::from_raw_parts(start, count as usize) })
}

/// An array of numbers of the caller.
#[derive(Clone, Copy)]
pub(crate) enum IntOrCount {
    Int(*const c_int),
    Count(*const i64),
}

impl From<*const c_int> for IntOrCount {
    fn from(pointer: *const c_int) -> Self {
        IntOrCount::Int(pointer)
    }
}

impl From<*const i64> for IntOrCount {
    fn from(pointer: *const i64) -> Self {
        IntOrCount::Count(pointer)
    }
}

impl IntOrCount {
    pub(crate) fn is_null(self) -> bool {
        match self {
            IntOrCount::Int(pointer) => pointer.is_null(),
            IntOrCount::Count(pointer) => pointer.is_null(),
        }
    }

    /// Returns the first `count` numbers.
    ///
    /// # Safety
    /// The array has as many.
    pub(crate) unsafe fn read(self, count: usize) -> Vec<i64> {
        // SAFETY: the caller promises the same.
        (0..count).map(|index| unsafe { self.at(index) }).collect()
    }

    unsafe fn at(self, index: usize) -> i64 {
        // SAFETY: as above.
        unsafe {
            match self {
                IntOrCount::Int(pointer) => i64::from(*pointer.add(index)),
                IntOrCount::Count(pointer) => *pointer.add(index),
            }
        }
    }
}

/// The destination of a number.
#[derive(Clone, Copy)]
pub(crate) enum IntOrCountMut {
    Int(*mut c_int),
    Count(*mut i64),
}

/// Stores a value at a place that C declares as `void *`, with any alignment: programs also pass a place inside other
/// data, and compilers of C accept that.
///
/// # Safety
/// The place is writable.
pub(crate) unsafe fn store<T>(place: *mut c_void, value: T) {
    // SAFETY: the caller promises the same.
    unsafe { place.cast::<T>().write_unaligned(value) };
}

impl From<*mut c_int> for IntOrCountMut {
    fn from(pointer: *mut c_int) -> Self {
        IntOrCountMut::Int(pointer)
    }
}

impl From<*mut i64> for IntOrCountMut {
    fn from(pointer: *mut i64) -> Self {
        IntOrCountMut::Count(pointer)
    }
}

impl IntOrCountMut {
    /// Writes a number, or MPI_UNDEFINED if it does not fit.
    ///
    /// # Safety
    /// The place is writable.
    pub(crate) unsafe fn write(self, value: i64) {
        // SAFETY: the caller promises the same.
        unsafe {
            match self {
                IntOrCountMut::Int(place) => *place = c_int::try_from(value).unwrap_or(UNDEFINED),
                IntOrCountMut::Count(place) => *place = value,
            }
        }
    }

    /// Reads the current value, for arguments that are both input and output.
    ///
    /// # Safety
    /// The place is readable.
    pub(crate) unsafe fn read(self) -> i64 {
        // SAFETY: the caller promises the same.
        unsafe {
            match self {
                IntOrCountMut::Int(place) => i64::from(*place),
                IntOrCountMut::Count(place) => *place,
            }
        }
    }
}
