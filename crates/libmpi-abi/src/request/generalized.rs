//! Requests that the program itself completes.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::{Action, given, register};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::process::check_running;
use crate::status::Status;

/// A request that the program itself completes.
pub(crate) struct Generalized {
    query: *mut c_void,
    free: *mut c_void,
    cancel: *mut c_void,
    extra: *mut c_void,
    pub(super) complete: Cell<bool>,
}

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

impl Generalized {
    pub(super) fn query(&self) -> (Status, Result) {
        let mut status = Status::new(UNDEFINED, UNDEFINED, 0);
        // SAFETY: the user gave this function for this use, with these parameters.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, Query>(self.query);
            function(self.extra, &mut status)
        };
        (status, of_callback(code))
    }

    pub(super) fn release(&self) -> Result {
        // SAFETY: as above.
        of_callback(unsafe {
            let function = std::mem::transmute::<*mut c_void, Free>(self.free);
            function(self.extra)
        })
    }

    pub(super) fn cancel(&self) -> Result {
        // SAFETY: as above.
        of_callback(unsafe {
            let function = std::mem::transmute::<*mut c_void, Cancel>(self.cancel);
            function(self.extra, c_int::from(self.complete.get()))
        })
    }
}

fn of_callback(code: c_int) -> Result {
    ensure!(code == SUCCESS, code, "a function of a generalized request failed");
    Ok(())
}

pub(crate) unsafe fn generalized_start(
    query: *mut c_void,
    free: *mut c_void,
    cancel: *mut c_void,
    extra: *mut c_void,
    request: *mut Request,
) -> Result {
    check_running()?;
    let complete = Cell::new(false);
    let one = Generalized { query, free, cancel, extra, complete };
    *request = register(Action::Generalized(Rc::new(one)));
    Ok(())
}

pub(crate) unsafe fn generalized_complete(request: Request) -> Result {
    let object = given(request)?;
    match &*object.action.borrow() {
        Some(Action::Generalized(one)) => {
            one.complete.set(true);
            Ok(())
        }
        _ => Err(error_of(ERR_REQUEST, "not a generalized request")),
    }
}
