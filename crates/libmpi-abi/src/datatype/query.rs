//! Queries of a datatype for C.

use std::ffi::c_int;

use super::contents::{Contents, combiner};
use super::table::{get, own_handle};
use crate::abi::*;
use crate::arguments::IntOrCountMut;
use crate::failure::{Result, ensure, error_of};

pub(crate) unsafe fn size(datatype: Datatype, size: IntOrCountMut) -> Result {
    size.write(get(datatype)?.size());
    Ok(())
}

pub(crate) unsafe fn size_x(datatype: Datatype, size: *mut i64) -> Result {
    *size = get(datatype)?.size();
    Ok(())
}

pub(crate) unsafe fn extent(datatype: Datatype, lower: *mut i64, extent: *mut i64) -> Result {
    let object = get(datatype)?;
    (*lower, *extent) = (object.lower(), object.extent());
    Ok(())
}

pub(crate) unsafe fn true_extent(datatype: Datatype, lower: *mut i64, extent: *mut i64) -> Result {
    let object = get(datatype)?;
    (*lower, *extent) = (object.true_lower(), object.true_extent());
    Ok(())
}

pub(crate) unsafe fn envelope(
    datatype: Datatype,
    integers: *mut c_int,
    addresses: *mut c_int,
    types: *mut c_int,
    combined: *mut c_int,
) -> Result {
    let object = get(datatype)?;
    let contents = Contents::of(object.made());
    ensure!(
        contents.large.is_empty(),
        ERR_TYPE,
        "made with counts beyond int: use the ..._c function"
    );
    *integers = contents.integers.len() as c_int;
    *addresses = contents.addresses.len() as c_int;
    *types = contents.types.len() as c_int;
    *combined = combiner(object.made());
    Ok(())
}

/// As [`envelope`], with a fourth list.
pub(crate) unsafe fn envelope_large(
    datatype: Datatype,
    integers: *mut i64,
    addresses: *mut i64,
    large: *mut i64,
    types: *mut i64,
    combined: *mut c_int,
) -> Result {
    let object = get(datatype)?;
    let contents = Contents::of(object.made());
    *integers = contents.integers.len() as i64;
    *addresses = contents.addresses.len() as i64;
    *large = contents.large.len() as i64;
    *types = contents.types.len() as i64;
    *combined = combiner(object.made());
    Ok(())
}

pub(crate) unsafe fn contents(
    datatype: Datatype,
    integers_max: c_int,
    addresses_max: c_int,
    types_max: c_int,
    integers: *mut c_int,
    addresses: *mut i64,
    types: *mut Datatype,
) -> Result {
    let [integers_max, addresses_max, types_max] =
        [integers_max, addresses_max, types_max].map(i64::from);
    let none = std::ptr::dangling_mut();
    contents_large(
        datatype,
        integers_max,
        addresses_max,
        0,
        types_max,
        integers,
        addresses,
        none,
        types,
    )
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn contents_large(
    datatype: Datatype,
    integers_max: i64,
    addresses_max: i64,
    large_max: i64,
    types_max: i64,
    integers: *mut c_int,
    addresses: *mut i64,
    large: *mut i64,
    types: *mut Datatype,
) -> Result {
    let object = get(datatype)?;
    let named = combiner(object.made()) == COMBINER_NAMED;
    ensure!(!named, ERR_TYPE, "a predefined datatype has no contents");
    let contents = Contents::of(object.made());
    let counts_fit = contents.large.len() as i64 <= large_max;
    ensure!(counts_fit, ERR_TYPE, "the array is too short for the large counts of the type");
    let enough = contents.integers.len() as i64 <= integers_max
        && contents.addresses.len() as i64 <= addresses_max
        && contents.types.len() as i64 <= types_max;
    ensure!(enough, ERR_ARG, "the arrays are too short for the contents");
    for (index, &number) in contents.integers.iter().enumerate() {
        *integers.add(index) = number as c_int;
    }
    for (index, &address) in contents.addresses.iter().enumerate() {
        *addresses.add(index) = address;
    }
    for (index, &count) in contents.large.iter().enumerate() {
        *large.add(index) = count;
    }
    for (index, part) in contents.types.iter().enumerate() {
        *types.add(index) = own_handle(part);
    }
    Ok(())
}

/// Implements MPI_Type_get_value_index: returns the pair type of a value and an index type.
pub(crate) unsafe fn value_index(value: Datatype, index: Datatype, pair: *mut Datatype) -> Result {
    const PAIRS: &[(Datatype, Datatype, Datatype)] = &[
        (FLOAT, INT, FLOAT_INT),
        (DOUBLE, INT, DOUBLE_INT),
        (LONG, INT, LONG_INT),
        (INT, INT, TWO_INT),
        (SHORT, INT, SHORT_INT),
        (LONG_DOUBLE, INT, LONG_DOUBLE_INT),
        (REAL, REAL, TWO_REAL),
        (DOUBLE_PRECISION, DOUBLE_PRECISION, TWO_DOUBLE_PRECISION),
        (INTEGER, INTEGER, TWO_INTEGER),
    ];
    get(value)?;
    get(index)?;
    let found = PAIRS.iter().find(|(one, other, _)| (*one, *other) == (value, index));
    *pair = found.map_or(DATATYPE_NULL, |(.., pair)| *pair);
    Ok(())
}

pub(crate) unsafe fn match_size(class: c_int, size: c_int, datatype: *mut Datatype) -> Result {
    let found = match (class, size) {
        (TYPECLASS_INTEGER, 1) => INTEGER1,
        (TYPECLASS_INTEGER, 2) => INTEGER2,
        (TYPECLASS_INTEGER, 4) => INTEGER4,
        (TYPECLASS_INTEGER, 8) => INTEGER8,
        (TYPECLASS_INTEGER, 16) => INTEGER16,
        (TYPECLASS_REAL, 2) => REAL2,
        (TYPECLASS_REAL, 4) => REAL4,
        (TYPECLASS_REAL, 8) => REAL8,
        (TYPECLASS_REAL, 16) => REAL16,
        (TYPECLASS_COMPLEX, 4) => COMPLEX4,
        (TYPECLASS_COMPLEX, 8) => COMPLEX8,
        (TYPECLASS_COMPLEX, 16) => COMPLEX16,
        (TYPECLASS_COMPLEX, 32) => COMPLEX32,
        _ => {
            let what = format!("no Fortran type of class {class} has {size} bytes");
            return Err(error_of(ERR_ARG, what));
        }
    };
    *datatype = found;
    Ok(())
}
