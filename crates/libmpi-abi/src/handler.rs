//! Error handlers.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use call_stack::CallSite;

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
    /// A function of the user.
    User(UserErrorHandler),
}

/// A function of the user, with the object and the code as parameters.
pub(crate) struct UserErrorHandler {
    pub(crate) function: UserHandler,
    /// Its handle, and the number of references to it that the program must free; no handle if the number is 0.
    references: Cell<(Errhandler, usize)>,
}

pub(crate) type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// Variable with the error handler that MPI_COMM_WORLD and MPI_COMM_SELF have from the start on, which `mpiexec
/// -initial-errhandler` sets.
const INITIAL_VARIABLE: &str = "CORNERSTONE_MPI_INITIAL_ERRHANDLER";

/// Returns the error handler of the first communicators (MPI 5.0, section 11.5). Errors are fatal without the variable.
pub(crate) fn initial() -> Handler {
    match std::env::var(INITIAL_VARIABLE).as_deref() {
        Ok("mpi_errors_return") => Handler::Return,
        Ok("mpi_errors_abort") => Handler::Abort,
        _ => Handler::Fatal,
    }
}

/// All error handlers.
static HANDLERS: Objects<Handler> = Shared::new(|| {
    let mut table = Table::new();
    table.predefine(ERRORS_ARE_FATAL, Rc::new(Handler::Fatal));
    table.predefine(ERRORS_ABORT, Rc::new(Handler::Abort));
    table.predefine(ERRORS_RETURN, Rc::new(Handler::Return));
    RefCell::new(table)
});

/// Returns the calls that have made the error handlers of the program which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    HANDLERS.makers()
}

/// Returns the error handler of a handle.
pub(crate) fn get(handle: Errhandler) -> Result<Rc<Handler>> {
    HANDLERS.get(handle).ok_or_else(|| error_of(ERR_ERRHANDLER, "not an error handler"))
}

/// Returns the handle of an error handler, with one more reference to a user's. Programs compare it with their own.
pub(crate) fn handle_of(handler: &Rc<Handler>) -> Errhandler {
    match **handler {
        Handler::Fatal => ERRORS_ARE_FATAL,
        Handler::Abort => ERRORS_ABORT,
        Handler::Return => ERRORS_RETURN,
        Handler::User(ref user) => {
            let (handle, count) = user.references.get();
            // The program has freed all of them while the handler is in use.
            let handle = if count == 0 { HANDLERS.add(handler.clone()) } else { handle };
            user.references.set((handle, count + 1));
            handle
        }
    }
}

pub(crate) unsafe fn create(function: *mut c_void, handle: *mut Errhandler) -> Result {
    ensure!(!function.is_null(), ERR_ARG, "the function is a null pointer");
    let function = std::mem::transmute::<*mut c_void, UserHandler>(function);
    let references = Cell::new((ERRHANDLER_NULL, 0));
    *handle = handle_of(&Rc::new(Handler::User(UserErrorHandler { function, references })));
    Ok(())
}

pub(crate) unsafe fn free(handle: *mut Errhandler) -> Result {
    let handler = get(*handle)?;
    let left = match &*handler {
        Handler::User(user) => {
            let (own, count) = user.references.get();
            user.references.set((own, count - 1));
            count - 1
        }
        Handler::Fatal | Handler::Abort | Handler::Return => 0,
    };
    if left == 0 {
        // Objects that use the handler own references to it.
        HANDLERS.remove(*handle);
    }
    *handle = ERRHANDLER_NULL;
    Ok(())
}
