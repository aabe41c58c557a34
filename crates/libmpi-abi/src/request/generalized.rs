//! Requests that the program itself completes.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use super::{Object, REQUESTS, given};
use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::process::engine;
use crate::status::Status;

/// The program's functions for such a request.
pub(super) struct Generalized {
    query: *mut c_void,
    free: *mut c_void,
    cancel: *mut c_void,
    extra: *mut c_void,
    complete: Cell<bool>,
    /// True if the program has freed the request. Its handle stays valid until its completion.
    pub(super) is_freed: Cell<bool>,
    /// The status that the program returned last.
    status: Cell<Status>,
}

type Query = unsafe extern "C" fn(*mut c_void, *mut Status) -> c_int;
type Free = unsafe extern "C" fn(*mut c_void) -> c_int;
type Cancel = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;

impl Generalized {
    pub(super) fn latest_status(&self) -> Status {
        self.status.get()
    }
}

impl mpi::Generalized for Generalized {
    fn is_complete(&self) -> bool {
        self.complete.get()
    }

    /// Stores the status that the program writes, which need not be a valid one, for C. Returns an empty one for `mpi`.
    fn status(&self) -> (mpi::Status, Result) {
        let mut status = Status::new(UNDEFINED, UNDEFINED, 0);
        // SAFETY: the program passed this function for this use, with these parameters.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, Query>(self.query);
            function(self.extra, &mut status)
        };
        self.status.set(status);
        (mpi::Status::empty(), of_callback(code))
    }

    fn release(&self) -> Result {
        // SAFETY: as above.
        of_callback(unsafe {
            let function = std::mem::transmute::<*mut c_void, Free>(self.free);
            function(self.extra)
        })
    }

    fn cancel(&self) -> Result {
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
    let engine = engine()?;
    let (complete, status) = (Cell::new(false), Cell::new(Status::empty()));
    let is_freed = Cell::new(false);
    let one = Rc::new(Generalized { query, free, cancel, extra, complete, is_freed, status });
    let object = mpi::Request::generalized(engine, one.clone());
    let object = Object { generalized: Some(one), ..Object::of(object) };
    *request = REQUESTS.borrow_mut().add(Rc::new(object));
    Ok(())
}

pub(crate) unsafe fn generalized_complete(request: Request) -> Result {
    let object = given(request)?;
    let one = object.generalized.as_ref();
    let one = one.ok_or_else(|| error_of(ERR_REQUEST, "not a generalized request"))?;
    one.complete.set(true);
    if one.is_freed.get() {
        REQUESTS.borrow_mut().remove(request);
        return mpi::Generalized::release(&**one);
    }
    Ok(())
}
