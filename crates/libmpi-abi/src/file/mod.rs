//! Files: their handles, and the C arguments of their calls.

mod data;
mod open;
mod place;
mod representation;

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

pub(crate) use data::*;
pub(crate) use open::*;
pub(crate) use place::*;
pub(crate) use representation::register_datarep;

use call_stack::CallSite;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, error_of};
use crate::handle::Table;
use crate::handler::{self, Handler};
use crate::shared::Shared;
use crate::{group, info};

/// An open file over the fabric of this process.
type OpenFile = mpi::File<Chosen>;

/// The target of a file's handle.
#[derive(Clone)]
struct Object {
    file: Rc<OpenFile>,
    handler: Rc<RefCell<Rc<Handler>>>,
    /// Access mode in C's form.
    mode: c_int,
}

static FILES: Shared<RefCell<Table<Object>>> = Shared::new(|| RefCell::new(Table::new()));

/// The error handler of calls without a file, which is also that of new files: MPI_FILE_NULL's.
static DEFAULT_HANDLER: Shared<RefCell<Rc<Handler>>> =
    Shared::new(|| RefCell::new(Rc::new(Handler::Return)));

fn get_object(fh: File) -> Result<Object> {
    FILES.borrow().get(fh).cloned().ok_or_else(|| error_of(ERR_FILE, "not a file"))
}

/// Returns the file of a handle.
fn get(fh: File) -> Result<Rc<OpenFile>> {
    Ok(get_object(fh)?.file)
}

/// Returns the calls that have made the open files which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    FILES.borrow().makers()
}

/// Returns the error handler of a file, or the default one for an invalid handle.
pub(crate) fn handler(fh: File) -> Rc<Handler> {
    match get_object(fh) {
        Ok(object) => object.handler.borrow().clone(),
        Err(_) => DEFAULT_HANDLER.borrow().clone(),
    }
}

/// Fails unless the handle is a file's or the null handle.
fn check_or_null(fh: File) -> Result {
    if fh == FILE_NULL { Ok(()) } else { get_object(fh).map(drop) }
}

pub(crate) unsafe fn set_handler(fh: File, handle: Errhandler) -> Result {
    check_or_null(fh)?;
    let handler = handler::get(handle)?;
    match get_object(fh) {
        Ok(object) => *object.handler.borrow_mut() = handler,
        Err(_) => *DEFAULT_HANDLER.borrow_mut() = handler,
    }
    Ok(())
}

pub(crate) unsafe fn get_handler(fh: File, handle: *mut Errhandler) -> Result {
    check_or_null(fh)?;
    *handle = handler::handle_of(&handler(fh));
    Ok(())
}

pub(crate) unsafe fn get_group(fh: File, place: *mut Group) -> Result {
    *place = group::make_any(get(fh)?.group());
    Ok(())
}

pub(crate) unsafe fn get_amode(fh: File, mode: *mut c_int) -> Result {
    *mode = get_object(fh)?.mode;
    Ok(())
}

pub(crate) unsafe fn set_info(fh: File, given: Info) -> Result {
    get(fh)?.set_info(&info::copy_or_none(given)?);
    Ok(())
}

pub(crate) unsafe fn get_info(fh: File, place: *mut Info) -> Result {
    *place = info::make(get(fh)?.info().clone());
    Ok(())
}
