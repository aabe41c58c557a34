//! The tools information interface (MPI_T): queries of a tool before, while and after the program uses the library.

mod category;
mod control;
mod performance;

use std::cell::Cell;
use std::ffi::{c_char, c_int};

pub(crate) use category::*;
pub(crate) use control::*;
pub(crate) use performance::*;

use crate::abi::*;
use crate::failure::{Error, Result, ensure, error_of};
use crate::process;
use crate::shared::Shared;
use crate::text;

/// Number of initialisations without a finalisation.
static BEGUN: Shared<Cell<usize>> = Shared::new(|| Cell::new(0));

pub(crate) unsafe fn init(required: c_int, provided: *mut c_int) -> Result {
    BEGUN.set(BEGUN.get() + 1);
    write_value(provided, process::granted(required));
    Ok(())
}

pub(crate) unsafe fn finalize() -> Result {
    check()?;
    BEGUN.set(BEGUN.get() - 1);
    Ok(())
}

/// Fails unless between MPI_T_init_thread and MPI_T_finalize.
fn check() -> Result {
    ensure!(BEGUN.get() > 0, T_ERR_NOT_INITIALIZED, "MPI_T_init_thread has not been called");
    Ok(())
}

/// Writes a value, if the tool passes a place for it.
unsafe fn write_value<T>(place: *mut T, value: T) {
    if !place.is_null() {
        *place = value;
    }
}

/// As [`write_value`], for a string: `length` is the room, and becomes the required length including the zero at the
/// end.
unsafe fn write_string(words: &str, place: *mut c_char, length: *mut c_int) {
    if length.is_null() {
        return;
    }
    if !place.is_null() {
        text::write(words, place, *length, std::ptr::null_mut());
    }
    *length = words.len() as c_int + 1;
}

/// Returns the element at C's index.
fn at<T>(list: &[T], index: c_int) -> Result<&T> {
    let found = usize::try_from(index).ok().and_then(|index| list.get(index));
    found.ok_or_else(|| error_of(T_ERR_INVALID_INDEX, format!("no index {index}")))
}

fn no_name(name: &str) -> Error {
    error_of(T_ERR_INVALID_NAME, format!("nothing is called {name:?}"))
}

fn no_handle() -> Error {
    error_of(T_ERR_INVALID_HANDLE, "not a handle")
}

/// Stores 0: there are no events, and no sources of events.
pub(crate) unsafe fn number_of_events(count: *mut c_int) -> Result {
    check()?;
    write_value(count, 0);
    Ok(())
}

pub(crate) unsafe fn event_index(name: *const c_char, _index: *mut c_int) -> Result {
    check()?;
    Err(no_name(&text::read(name)?))
}
