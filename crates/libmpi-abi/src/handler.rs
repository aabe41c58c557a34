//! Error handlers.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use crate::abi::*;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{Objects, Table};
use crate::shared::Shared;

/// An error handler.
pub(crate) enum Handler {
    /// Ends the whole job.
    Fatal,
    /// Ends this process and with it the job.
    Abort,
    /// Returns the error code.
    Return,
    /// A function of the user, which gets the object and the code.
    User(UserHandler),
}

pub(crate) type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// All error handlers.
static HANDLERS: Objects<Handler> = Shared::new(|| {
    let mut table = Table::new();
    table.predefine(ERRORS_ARE_FATAL, Rc::new(Handler::Fatal));
    table.predefine(ERRORS_ABORT, Rc::new(Handler::Abort));
    table.predefine(ERRORS_RETURN, Rc::new(Handler::Return));
    RefCell::new(table)
});

/// Returns the number of error handlers of programs.
pub(crate) fn count() -> usize {
    HANDLERS.made()
}

/// Returns the error handler of a handle.
pub(crate) fn get(handle: Errhandler) -> Result<Rc<Handler>> {
    HANDLERS.get(handle).ok_or_else(|| error_of(ERR_ERRHANDLER, "not an error handler"))
}

/// Returns a handle of an error handler. A user's gets a new one, which must be freed separately.
pub(crate) fn handle_of(handler: &Rc<Handler>) -> Errhandler {
    match **handler {
        Handler::Fatal => ERRORS_ARE_FATAL,
        Handler::Abort => ERRORS_ABORT,
        Handler::Return => ERRORS_RETURN,
        Handler::User(_) => HANDLERS.add(handler.clone()),
    }
}

pub(crate) unsafe fn create(function: *mut c_void, handle: *mut Errhandler) -> Result {
    ensure!(!function.is_null(), ERR_ARG, "the function is a null pointer");
    let function = std::mem::transmute::<*mut c_void, UserHandler>(function);
    *handle = HANDLERS.add(Rc::new(Handler::User(function)));
    Ok(())
}

pub(crate) unsafe fn free(handle: *mut Errhandler) -> Result {
    get(*handle)?;
    // Its users still hold a reference.
    HANDLERS.remove(*handle);
    *handle = ERRHANDLER_NULL;
    Ok(())
}
