//! Performance variables: numbers of objects of each kind, and of errors. All of them always count.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_ulong, c_void};

use super::{at, check, no_handle, no_name, write_string, write_value};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::shared::Shared;
use crate::{errors, leaks, text};

/// A performance variable.
pub(super) struct Counted {
    pub(super) name: String,
    words: String,
    class: c_int,
    value: u64,
}

/// Returns all of them with their current values: first the objects, then the errors.
pub(super) fn counted() -> Vec<Counted> {
    let of_kind = |(value, kind): (usize, &str)| Counted {
        name: format!("{}_in_use", kind.replace(' ', "_")),
        words: format!("how many objects of the kind {kind} the program has made and not freed"),
        class: T_PVAR_CLASS_LEVEL,
        value: value as u64,
    };
    let mut all: Vec<Counted> = leaks::counts().into_iter().map(of_kind).collect();
    all.push(Counted {
        name: "errors".into(),
        words: "how many calls have failed".into(),
        class: T_PVAR_CLASS_COUNTER,
        value: errors::count(),
    });
    all
}

/// Sessions and handles. Each number is used once.
#[derive(Default)]
struct Open {
    sessions: Vec<usize>,
    /// By handle: its session, and the index of its variable.
    handles: BTreeMap<usize, (usize, usize)>,
    made: usize,
}

static OPEN: Shared<RefCell<Open>> = Shared::new(RefCell::default);

impl Open {
    /// Returns an unused number. The standard reserves the smallest.
    fn next(&mut self) -> usize {
        self.made += 1;
        0x1000 + self.made
    }

    fn check(&self, session: usize) -> Result {
        let exists = self.sessions.contains(&session);
        ensure!(exists, T_ERR_INVALID_SESSION, "not a session of performance variables");
        Ok(())
    }
}

pub(crate) unsafe fn number_of_counted(count: *mut c_int) -> Result {
    check()?;
    write_value(count, counted().len() as c_int);
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The standard's.
pub(crate) unsafe fn counted_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: *mut c_int,
    class: *mut c_int,
    datatype: *mut Datatype,
    enumeration: *mut usize,
    words: *mut c_char,
    words_length: *mut c_int,
    bound_to: *mut c_int,
    is_readonly: *mut c_int,
    is_continuous: *mut c_int,
    is_atomic: *mut c_int,
) -> Result {
    check()?;
    let all = counted();
    let one = at(&all, index)?;
    write_string(&one.name, name, name_length);
    write_string(&one.words, words, words_length);
    write_value(verbosity, T_VERBOSITY_USER_BASIC);
    write_value(class, one.class);
    write_value(datatype, UNSIGNED_LONG);
    write_value(enumeration, T_ENUM_NULL);
    write_value(bound_to, T_BIND_NO_OBJECT);
    write_value(is_readonly, 1);
    write_value(is_continuous, 1);
    write_value(is_atomic, 0);
    Ok(())
}

pub(crate) unsafe fn counted_index(name: *const c_char, class: c_int, index: *mut c_int) -> Result {
    check()?;
    let name = text::read(name)?;
    let found = counted().iter().position(|one| one.name == name && one.class == class);
    write_value(index, found.ok_or_else(|| no_name(&name))? as c_int);
    Ok(())
}

pub(crate) unsafe fn open_counted(session: *mut usize) -> Result {
    check()?;
    let mut open = OPEN.borrow_mut();
    let made = open.next();
    open.sessions.push(made);
    write_value(session, made);
    Ok(())
}

pub(crate) unsafe fn close_counted(session: *mut usize) -> Result {
    check()?;
    ensure!(!session.is_null(), T_ERR_INVALID_SESSION, "no place of a session");
    let mut open = OPEN.borrow_mut();
    open.check(*session)?;
    open.sessions.retain(|one| one != &*session);
    open.handles.retain(|_, (of, _)| of != &*session);
    *session = T_PVAR_SESSION_NULL;
    Ok(())
}

pub(crate) unsafe fn make_counted(
    session: usize,
    index: c_int,
    _object: *mut c_void,
    handle: *mut usize,
    count: *mut c_int,
) -> Result {
    check()?;
    at(&counted(), index)?;
    let mut open = OPEN.borrow_mut();
    open.check(session)?;
    let made = open.next();
    open.handles.insert(made, (session, index as usize));
    write_value(handle, made);
    write_value(count, 1);
    Ok(())
}

pub(crate) unsafe fn free_counted(session: usize, handle: *mut usize) -> Result {
    ensure!(!handle.is_null(), T_ERR_INVALID_HANDLE, "no place of a handle");
    variable(session, *handle)?;
    OPEN.borrow_mut().handles.remove(&*handle);
    *handle = T_PVAR_HANDLE_NULL;
    Ok(())
}

/// Returns the index of a handle's variable.
fn variable(session: usize, handle: usize) -> Result<usize> {
    check()?;
    let open = OPEN.borrow();
    open.check(session)?;
    match open.handles.get(&handle) {
        Some(&(of, index)) if of == session => Ok(index),
        _ => Err(no_handle()),
    }
}

pub(crate) unsafe fn read_counted(session: usize, handle: usize, place: *mut c_void) -> Result {
    let index = variable(session, handle)?;
    ensure!(!place.is_null(), T_ERR_INVALID, "no place for the value");
    *place.cast::<c_ulong>() = counted()[index].value;
    Ok(())
}

/// Fails, because counters that always count are neither started nor stopped. With all handles of a session it
/// succeeds.
pub(crate) unsafe fn start_or_stop(session: usize, handle: usize) -> Result {
    if handle == T_PVAR_ALL_HANDLES {
        check()?;
        return OPEN.borrow().check(session);
    }
    variable(session, handle)?;
    Err(error_of(T_ERR_PVAR_NO_STARTSTOP, "the variable always counts"))
}

/// Fails, because counters cannot be set. With all handles of a session it succeeds.
pub(crate) unsafe fn reset_counted(session: usize, handle: usize) -> Result {
    if handle == T_PVAR_ALL_HANDLES {
        check()?;
        return OPEN.borrow().check(session);
    }
    variable(session, handle)?;
    Err(error_of(T_ERR_PVAR_NO_WRITE, "the variable can only be read"))
}

pub(crate) unsafe fn write_counted(session: usize, handle: usize, _: *const c_void) -> Result {
    variable(session, handle)?;
    Err(error_of(T_ERR_PVAR_NO_WRITE, "the variable can only be read"))
}

/// Fails, because an atomic read and reset requires a variable that can be set.
pub(crate) unsafe fn read_reset(session: usize, handle: usize, _: *mut c_void) -> Result {
    variable(session, handle)?;
    Err(error_of(T_ERR_PVAR_NO_ATOMIC, "the variable can only be read"))
}
