//! Datatypes by handle.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use call_stack::CallSite;
use mpi::Kind::{
    self, Byte, Char, Character, Complex, ComplexLongDouble, Float, Logical, Long, LongDouble,
    Packed, Signed, Unsigned, UnsignedLong, WideCharacter,
};
use mpi::{Datatype as Type, Memory};

use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{self, Objects, Table};
use crate::shared::Shared;

/// The predefined types of one element each.
const BASIC: &[(Datatype, Kind)] = &[
    (AINT, Signed(8)),
    (COUNT, Signed(8)),
    (OFFSET, Signed(8)),
    (PACKED, Packed),
    (SHORT, Signed(2)),
    (INT, Signed(4)),
    (LONG, Long),
    (LONG_LONG, Signed(8)),
    (UNSIGNED_SHORT, Unsigned(2)),
    (UNSIGNED, Unsigned(4)),
    (UNSIGNED_LONG, UnsignedLong),
    (UNSIGNED_LONG_LONG, Unsigned(8)),
    (FLOAT, Float(4)),
    (C_FLOAT_COMPLEX, Complex(4)),
    (CXX_FLOAT_COMPLEX, Complex(4)),
    (DOUBLE, Float(8)),
    (C_DOUBLE_COMPLEX, Complex(8)),
    (CXX_DOUBLE_COMPLEX, Complex(8)),
    (LOGICAL, Logical(4)),
    (INTEGER, Signed(4)),
    (REAL, Float(4)),
    (COMPLEX, Complex(4)),
    (DOUBLE_PRECISION, Float(8)),
    (DOUBLE_COMPLEX, Complex(8)),
    (CHARACTER, Character(1)),
    (LONG_DOUBLE, LongDouble),
    (C_LONG_DOUBLE_COMPLEX, ComplexLongDouble),
    (CXX_LONG_DOUBLE_COMPLEX, ComplexLongDouble),
    (C_BOOL, Logical(1)),
    (CXX_BOOL, Logical(1)),
    (WCHAR, WideCharacter),
    (INT8_T, Signed(1)),
    (UINT8_T, Unsigned(1)),
    (CHAR, Char),
    (SIGNED_CHAR, Signed(1)),
    (UNSIGNED_CHAR, Unsigned(1)),
    (BYTE, Byte),
    (INT16_T, Signed(2)),
    (UINT16_T, Unsigned(2)),
    (INT32_T, Signed(4)),
    (UINT32_T, Unsigned(4)),
    (INT64_T, Signed(8)),
    (UINT64_T, Unsigned(8)),
    (LOGICAL1, Logical(1)),
    (INTEGER1, Signed(1)),
    (LOGICAL2, Logical(2)),
    (INTEGER2, Signed(2)),
    (REAL2, Float(2)),
    (LOGICAL4, Logical(4)),
    (INTEGER4, Signed(4)),
    (REAL4, Float(4)),
    (COMPLEX4, Complex(2)),
    (LOGICAL8, Logical(8)),
    (INTEGER8, Signed(8)),
    (REAL8, Float(8)),
    (COMPLEX8, Complex(4)),
    (LOGICAL16, Logical(16)),
    (INTEGER16, Signed(16)),
    (REAL16, Float(16)),
    (COMPLEX16, Complex(8)),
    (COMPLEX32, Complex(16)),
];

/// The predefined types of a value and an index.
const PAIRS: &[(Datatype, Kind, Kind)] = &[
    (FLOAT_INT, Float(4), Signed(4)),
    (DOUBLE_INT, Float(8), Signed(4)),
    (LONG_INT, Long, Signed(4)),
    (TWO_INT, Signed(4), Signed(4)),
    (SHORT_INT, Signed(2), Signed(4)),
    (LONG_DOUBLE_INT, LongDouble, Signed(4)),
    (TWO_REAL, Float(4), Float(4)),
    (TWO_DOUBLE_PRECISION, Float(8), Float(8)),
    (TWO_INTEGER, Signed(4), Signed(4)),
];

/// All datatypes.
pub(super) static TYPES: Objects<Type> = Shared::new(|| {
    let mut table = Table::new();
    let basic = BASIC.iter().map(|&(handle, kind)| (handle, Type::basic(kind)));
    let pairs = PAIRS.iter().map(|&(handle, value, index)| (handle, Type::pair(value, index)));
    for (handle, made) in basic.chain(pairs) {
        let name = TYPE_NAMES.iter().find(|(its_handle, _)| *its_handle == handle);
        made.set_name(name.map_or("", |(_, name)| name));
        made.set_number(handle.number());
        table.predefine(handle, made);
    }
    RefCell::new(table)
});

/// Returns the calls that have made the datatypes of the program which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    TYPES.borrow().makers_of(|one| !is_of_fortran(one))
}

/// Returns whether a type was made by digits and range. Such types count as predefined: they are not freed, and the same
/// arguments return the same handle (MPI 5.0, section 19.1.9).
fn is_of_fortran(of: &Type) -> bool {
    use mpi::Construction::{FortranComplex, FortranInteger, FortranReal};
    matches!(of.made(), FortranReal { .. } | FortranComplex { .. } | FortranInteger { .. })
}

/// Returns whether a program may not free a type.
pub(super) fn is_predefined(handle: Datatype, of: &Type) -> bool {
    handle::is_predefined(handle) || is_of_fortran(of)
}

/// Returns the handle of the type that Fortran's function makes of these arguments, as it was returned before.
pub(super) fn once(of: FortranKind, make: impl FnOnce() -> Result<Rc<Type>>) -> Result<Datatype> {
    if let Some(&earlier) = FORTRAN_TYPES.borrow().get(&of) {
        return Ok(earlier);
    }
    let handle = add(make()?);
    FORTRAN_TYPES.borrow_mut().insert(of, handle);
    Ok(handle)
}

/// The arguments of Fortran's functions for types.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FortranKind {
    Real(c_int, c_int),
    Complex(c_int, c_int),
    Integer(c_int),
}

static FORTRAN_TYPES: Shared<RefCell<HashMap<FortranKind, Datatype>>> =
    Shared::new(RefCell::default);

/// Returns the length of plain data: elements without gaps, at a valid address.
#[inline(always)]
pub(crate) fn plain_bytes(buffer: *const c_void, count: i64, datatype: Datatype) -> Option<usize> {
    with_plain(buffer, count, datatype, |_, bytes| bytes)
}

/// Calls a function with the type and the length of plain data.
#[inline(always)]
pub(crate) fn with_plain<R>(
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    with: impl FnOnce(&Type, usize) -> R,
) -> Option<R> {
    let types = TYPES.borrow();
    let of = types.get(datatype)?;
    let bytes = usize::try_from(count).ok()?.checked_mul(of.size() as usize)?;
    let plain = of.is_dense() && of.is_committed() && !(buffer.is_null() && bytes > 0);
    plain.then(|| with(of, bytes))
}

/// Returns the type of a handle.
#[inline]
pub(crate) fn get(datatype: Datatype) -> Result<Rc<Type>> {
    TYPES.get(datatype).ok_or_else(|| error_of(ERR_TYPE, "not a datatype"))
}

/// Assigns a handle to a type.
pub(super) fn add(made: Rc<Type>) -> Datatype {
    let handle: Datatype = TYPES.add(made.clone());
    made.set_number(handle.number());
    handle
}

/// Returns a handle for a program that queries a construction: a predefined type's own, and for any other a new one,
/// since the first may be freed.
pub(crate) fn own_handle(object: &Rc<Type>) -> Datatype {
    let own = Datatype(object.number());
    if is_predefined(own, object) { own } else { add(object.clone()) }
}

/// Returns a handle of a type, if it has one. There may be several: the one that is stored with the type is the newest,
/// which may have been freed.
fn handle_of(object: &Rc<Type>) -> Option<Datatype> {
    let table = TYPES.borrow();
    let newest = Datatype(object.number());
    match table.get(newest) {
        Some(one) if Rc::ptr_eq(one, object) => Some(newest),
        _ => table.find(|one| Rc::ptr_eq(one, object)),
    }
}

/// Calls `with` with a handle of a type. A type that the program has freed, but that operations in progress still use,
/// receives a temporary one.
pub(crate) fn with_handle(object: &Rc<Type>, with: impl FnOnce(Datatype)) {
    if let Some(handle) = handle_of(object) {
        return with(handle);
    }
    let handle: Datatype = TYPES.add(object.clone());
    with(handle);
    TYPES.remove(handle);
}

/// Returns the memory of a buffer argument.
///
/// # Safety
/// As for [`Memory::new`].
#[inline]
pub(crate) unsafe fn memory(
    start: *const c_void,
    count: i64,
    datatype: Datatype,
) -> Result<Memory> {
    let of = get(datatype)?;
    // Without data, an address of 1 may also be that of an empty vector.
    let in_place = start as usize == IN_PLACE && count > 0 && of.size() > 0;
    ensure!(!in_place, ERR_BUFFER, "MPI_IN_PLACE has no meaning for this buffer");
    // SAFETY: the caller promises the same.
    unsafe { Memory::new(start.cast(), count, of) }
}
