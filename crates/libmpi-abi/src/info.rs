//! Info objects.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::rc::Rc;

use call_stack::CallSite;
use mpi::Info as Pairs;

use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{Objects, Table};
use crate::shared::Shared;
use crate::text;

/// All info objects.
static INFOS: Objects<Pairs> = Shared::new(|| {
    let mut table = Table::new();
    table.predefine(INFO_ENV, Rc::new(environment()));
    RefCell::new(table)
});

/// Returns the pairs of MPI_INFO_ENV, which describe the start of the process.
fn environment() -> Pairs {
    let pairs = Pairs::new();
    pairs.set("thread_level", "MPI_THREAD_MULTIPLE");
    if let Some(program) = std::env::args().next() {
        pairs.set("command", program);
    }
    if let Ok(folder) = std::env::current_dir() {
        pairs.set("wdir", folder.display().to_string());
    }
    pairs
}

/// Returns the calls that have made the info objects of the program which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    INFOS.makers()
}

/// Returns the object of a handle.
pub(crate) fn get_object(info: Info) -> Result<Rc<Pairs>> {
    INFOS.get(info).ok_or_else(|| error_of(ERR_INFO, "not an info object"))
}

/// Returns a handle of a new object.
pub(crate) fn make(pairs: Pairs) -> Info {
    INFOS.add(Rc::new(pairs))
}

/// Returns a copy of an object that may be missing.
pub(crate) fn copy_or_none(info: Info) -> Result<Pairs> {
    if info == INFO_NULL {
        return Ok(Pairs::new());
    }
    Ok((*get_object(info)?).clone())
}

unsafe fn key(pointer: *const c_char) -> Result<String> {
    let key = text::read(pointer).map_err(|_| error_of(ERR_INFO_KEY, "no key"))?;
    let fits = !key.is_empty() && key.len() < MAX_INFO_KEY as usize;
    ensure!(fits, ERR_INFO_KEY, "a key of {} bytes", key.len());
    Ok(key)
}

pub(crate) unsafe fn create(info: *mut Info) -> Result {
    *info = make(Pairs::new());
    Ok(())
}

/// Implements MPI_Info_create_env: as MPI_INFO_ENV, as a new object.
pub(crate) unsafe fn create_env(_argc: c_int, _argv: *mut *mut c_char, info: *mut Info) -> Result {
    dup(INFO_ENV, info)
}

pub(crate) unsafe fn dup(info: Info, other: *mut Info) -> Result {
    *other = make((*get_object(info)?).clone());
    Ok(())
}

pub(crate) unsafe fn free(info: *mut Info) -> Result {
    get_object(*info)?;
    ensure!(INFOS.remove(*info).is_some(), ERR_INFO, "a predefined object");
    *info = INFO_NULL;
    Ok(())
}

pub(crate) unsafe fn set(info: Info, name: *const c_char, value: *const c_char) -> Result {
    let (object, name) = (get_object(info)?, key(name)?);
    let value = text::read(value).map_err(|_| error_of(ERR_INFO_VALUE, "no value"))?;
    ensure!(value.len() < MAX_INFO_VAL as usize, ERR_INFO_VALUE, "{} bytes", value.len());
    ensure!(info != INFO_ENV, ERR_INFO, "MPI_INFO_ENV cannot be changed");
    object.set(&name, value);
    Ok(())
}

pub(crate) unsafe fn delete(info: Info, name: *const c_char) -> Result {
    let (object, name) = (get_object(info)?, key(name)?);
    object.delete(&name)
}

pub(crate) unsafe fn get_number(info: Info, count: *mut c_int) -> Result {
    *count = get_object(info)?.len() as c_int;
    Ok(())
}

pub(crate) unsafe fn get_name(info: Info, index: c_int, name: *mut c_char) -> Result {
    let object = get_object(info)?;
    let key = usize::try_from(index).ok().and_then(|index| object.key(index));
    let key = key.ok_or_else(|| error_of(ERR_ARG, format!("no key number {index}")))?;
    text::write(&key, name, MAX_INFO_KEY, null_mut());
    Ok(())
}

/// Returns the value of a key, and stores whether there is one.
unsafe fn find(info: Info, name: *const c_char, flag: *mut c_int) -> Result<Option<String>> {
    let name = key(name)?;
    let found = get_object(info)?.get(&name);
    *flag = c_int::from(found.is_some());
    Ok(found)
}

/// Implements the old form: `room` excludes the zero at the end.
pub(crate) unsafe fn get(
    info: Info,
    name: *const c_char,
    room: c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Result {
    if let Some(found) = find(info, name, flag)? {
        text::write(&found, value, room + 1, null_mut());
    }
    Ok(())
}

/// Implements the new form: `length` is the room including the zero at the end, and becomes the required length.
pub(crate) unsafe fn get_string(
    info: Info,
    name: *const c_char,
    length: *mut c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Result {
    if let Some(found) = find(info, name, flag)? {
        text::write(&found, value, *length, null_mut());
        *length = found.len() as c_int + 1;
    }
    Ok(())
}

pub(crate) unsafe fn get_length(
    info: Info,
    name: *const c_char,
    length: *mut c_int,
    flag: *mut c_int,
) -> Result {
    if let Some(found) = find(info, name, flag)? {
        *length = found.len() as c_int;
    }
    Ok(())
}
