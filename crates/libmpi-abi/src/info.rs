//! Info objects: ordered pairs of strings.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::rc::Rc;

use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::handle::Table;
use crate::process::process;
use crate::text;

/// The pairs, in the order in which their keys were first set.
#[derive(Default)]
pub(crate) struct Pairs(pub(crate) RefCell<Vec<(String, String)>>);

pub(crate) fn predefine(table: &mut Table<Rc<Pairs>>) {
    let threads = ("thread_level", "MPI_THREAD_SERIALIZED");
    let mut pairs = vec![(threads.0.to_string(), threads.1.to_string())];
    if let Some(program) = std::env::args().next() {
        pairs.push(("command".into(), program));
    }
    if let Ok(folder) = std::env::current_dir() {
        pairs.push(("wdir".into(), folder.display().to_string()));
    }
    table.predefine(INFO_ENV, Rc::new(Pairs(RefCell::new(pairs))));
}

pub(crate) fn get_object(info: Info) -> Result<Rc<Pairs>> {
    let found = process().infos.borrow().get(info).cloned();
    found.ok_or_else(|| error_of(ERR_INFO, "not an info object"))
}

/// A new object with these pairs.
pub(crate) fn make(pairs: Vec<(String, String)>) -> Info {
    process().infos.borrow_mut().add(Rc::new(Pairs(RefCell::new(pairs))))
}

/// The pairs of an object that may be missing.
pub(crate) fn pairs_or_none(info: Info) -> Result<Vec<(String, String)>> {
    if info == INFO_NULL {
        return Ok(Vec::new());
    }
    Ok(get_object(info)?.0.borrow().clone())
}

unsafe fn key(pointer: *const c_char) -> Result<String> {
    let key = text::read(pointer).map_err(|_| error_of(ERR_INFO_KEY, "no key"))?;
    let fits = !key.is_empty() && key.len() < MAX_INFO_KEY as usize;
    ensure!(fits, ERR_INFO_KEY, "a key of {} bytes", key.len());
    Ok(key)
}

pub(crate) unsafe fn create(info: *mut Info) -> Result {
    *info = make(Vec::new());
    Ok(())
}

/// MPI_Info_create_env: the same as MPI_INFO_ENV, as an object of its own.
pub(crate) unsafe fn create_env(_argc: c_int, _argv: *mut *mut c_char, info: *mut Info) -> Result {
    *info = make(get_object(INFO_ENV)?.0.borrow().clone());
    Ok(())
}

pub(crate) unsafe fn dup(info: Info, other: *mut Info) -> Result {
    *other = make(get_object(info)?.0.borrow().clone());
    Ok(())
}

pub(crate) unsafe fn free(info: *mut Info) -> Result {
    get_object(*info)?;
    ensure!(process().infos.borrow_mut().remove(*info).is_some(), ERR_INFO, "a predefined object");
    *info = INFO_NULL;
    Ok(())
}

pub(crate) unsafe fn set(info: Info, name: *const c_char, value: *const c_char) -> Result {
    let (object, name) = (get_object(info)?, key(name)?);
    let value = text::read(value).map_err(|_| error_of(ERR_INFO_VALUE, "no value"))?;
    ensure!(value.len() < MAX_INFO_VAL as usize, ERR_INFO_VALUE, "{} bytes", value.len());
    ensure!(info != INFO_ENV, ERR_INFO, "MPI_INFO_ENV cannot be changed");
    let mut pairs = object.0.borrow_mut();
    match pairs.iter_mut().find(|(known, _)| *known == name) {
        Some(pair) => pair.1 = value,
        None => pairs.push((name, value)),
    }
    Ok(())
}

pub(crate) unsafe fn delete(info: Info, name: *const c_char) -> Result {
    let (object, name) = (get_object(info)?, key(name)?);
    let mut pairs = object.0.borrow_mut();
    let index = pairs.iter().position(|(known, _)| *known == name);
    let index = index.ok_or_else(|| error_of(ERR_INFO_NOKEY, format!("no key {name:?}")))?;
    pairs.remove(index);
    Ok(())
}

pub(crate) unsafe fn get_number(info: Info, count: *mut c_int) -> Result {
    *count = get_object(info)?.0.borrow().len() as c_int;
    Ok(())
}

pub(crate) unsafe fn get_name(info: Info, index: c_int, name: *mut c_char) -> Result {
    let object = get_object(info)?;
    let pairs = object.0.borrow();
    let pair = usize::try_from(index).ok().and_then(|index| pairs.get(index));
    let pair = pair.ok_or_else(|| error_of(ERR_ARG, format!("no key number {index}")))?;
    text::write(&pair.0, name, MAX_INFO_KEY, std::ptr::null_mut());
    Ok(())
}

fn find(info: Info, name: &str) -> Result<Option<String>> {
    let object = get_object(info)?;
    let pairs = object.0.borrow();
    Ok(pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
}

/// The old form: `room` does not count the zero at the end.
pub(crate) unsafe fn get(
    info: Info,
    name: *const c_char,
    room: c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Result {
    let found = find(info, &key(name)?)?;
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        text::write(&found, value, room + 1, std::ptr::null_mut());
    }
    Ok(())
}

/// The new form: `length` is the room with the zero at the end, and becomes what would be needed.
pub(crate) unsafe fn get_string(
    info: Info,
    name: *const c_char,
    length: *mut c_int,
    value: *mut c_char,
    flag: *mut c_int,
) -> Result {
    let found = find(info, &key(name)?)?;
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        text::write(&found, value, *length, std::ptr::null_mut());
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
    let found = find(info, &key(name)?)?;
    *flag = c_int::from(found.is_some());
    if let Some(found) = found {
        *length = found.len() as c_int;
    }
    Ok(())
}
