//! Commit, free and names of datatypes, their attributes, and arithmetic on addresses.

use std::ffi::{c_char, c_int, c_void};

use super::table::{TYPES, get, is_predefined};
use crate::abi::*;
use crate::attribute::{self, For};
use crate::failure::{Result, ensure};
use crate::text;

pub(crate) unsafe fn commit(datatype: *mut Datatype) -> Result {
    get(*datatype)?.commit();
    Ok(())
}

pub(crate) unsafe fn free(datatype: *mut Datatype) -> Result {
    let object = get(*datatype)?;
    ensure!(!is_predefined(*datatype, &object), ERR_TYPE, "a predefined datatype cannot be freed");
    object.attributes().clear((*datatype).number())?;
    TYPES.remove(*datatype);
    *datatype = DATATYPE_NULL;
    Ok(())
}

pub(crate) unsafe fn set_name(datatype: Datatype, name: *const c_char) -> Result {
    let object = get(datatype)?;
    object.set_name(text::read(name)?);
    Ok(())
}

pub(crate) unsafe fn get_name(datatype: Datatype, name: *mut c_char, length: *mut c_int) -> Result {
    let own = match datatype {
        DATATYPE_NULL => "MPI_DATATYPE_NULL".into(),
        _ => get(datatype)?.name(),
    };
    text::write(&own, name, MAX_OBJECT_NAME, length);
    Ok(())
}

pub(crate) unsafe fn get_attribute(
    datatype: Datatype,
    key: c_int,
    value: *mut c_void,
    flag: *mut c_int,
) -> Result {
    let found = attribute::find(get(datatype)?.attributes(), For::Datatype, key)?;
    attribute::give(found, value, flag);
    Ok(())
}

pub(crate) unsafe fn set_attribute(datatype: Datatype, key: c_int, value: *mut c_void) -> Result {
    attribute::set(get(datatype)?.attributes(), For::Datatype, datatype, key, value)
}

pub(crate) unsafe fn delete_attribute(datatype: Datatype, key: c_int) -> Result {
    attribute::delete(get(datatype)?.attributes(), For::Datatype, datatype, key)
}

/// Implements MPI_Get_address.
pub(crate) unsafe fn get_address(location: *const c_void, address: *mut i64) -> Result {
    *address = location as i64;
    Ok(())
}

/// Implements MPI_Aint_add.
pub(crate) fn address_add(base: i64, displacement: i64) -> i64 {
    base.wrapping_add(displacement)
}

/// Implements MPI_Aint_diff.
pub(crate) fn address_difference(one: i64, other: i64) -> i64 {
    one.wrapping_sub(other)
}
