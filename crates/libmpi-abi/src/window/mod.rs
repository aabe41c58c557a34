//! One-sided communication: windows' handles, and the C arguments of their calls.

mod attribute;
mod make;
mod operate;
mod quick;
mod sync;

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::rc::Rc;

pub(crate) use attribute::*;
pub(crate) use make::*;
pub(crate) use operate::*;
pub(crate) use sync::*;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, error_of};
use crate::handle::Table;
use crate::handler::{self, Handler};
use crate::shared::Shared;
use crate::{group, info, text};
use attribute::Numbers;
use call_stack::CallSite;

/// A window over the fabric of this process.
pub(crate) type Window = mpi::Window<Chosen>;

/// The target of a window's handle.
#[derive(Clone)]
pub(crate) struct Object {
    window: Rc<Window>,
    of_c: Rc<OfC>,
}

/// The attributes of a window for C.
struct OfC {
    handler: RefCell<Rc<Handler>>,
    numbers: Numbers,
}

static WINDOWS: Shared<RefCell<Table<Object>>> = Shared::new(|| RefCell::new(Table::new()));

/// Returns the target of a handle.
fn get_object(win: Win) -> Result<Object> {
    WINDOWS.borrow().get(win).cloned().ok_or_else(|| error_of(ERR_WIN, "not a window"))
}

/// Returns the window of a handle.
#[inline]
fn get(win: Win) -> Result<Rc<Window>> {
    Ok(get_object(win)?.window)
}

/// Returns the calls that have made the windows which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    WINDOWS.borrow().makers()
}

/// Ends the access of this process to the windows that the program has not freed.
pub(crate) fn end_access() -> Result {
    let left: Vec<Rc<Window>> = WINDOWS.borrow().own().map(|one| one.window.clone()).collect();
    left.iter().try_for_each(|window| window.end_access())
}

/// Returns the error handler of a window.
pub(crate) fn handler(win: Win) -> Result<Rc<Handler>> {
    Ok(get_object(win)?.of_c.handler.borrow().clone())
}

pub(crate) unsafe fn set_handler(win: Win, handle: Errhandler) -> Result {
    let handler = handler::get(handle)?;
    *get_object(win)?.of_c.handler.borrow_mut() = handler;
    Ok(())
}

pub(crate) unsafe fn get_handler(win: Win, handle: *mut Errhandler) -> Result {
    *handle = handler::handle_of(&handler(win)?);
    Ok(())
}

pub(crate) unsafe fn set_name(win: Win, name: *const c_char) -> Result {
    get(win)?.set_name(text::read(name)?);
    Ok(())
}

pub(crate) unsafe fn get_name(win: Win, name: *mut c_char, length: *mut c_int) -> Result {
    if win == WIN_NULL {
        text::write("MPI_WIN_NULL", name, MAX_OBJECT_NAME, length);
        return Ok(());
    }
    text::write(&get(win)?.name(), name, MAX_OBJECT_NAME, length);
    Ok(())
}

pub(crate) unsafe fn get_group(win: Win, place: *mut Group) -> Result {
    *place = group::make_any(get(win)?.group().clone());
    Ok(())
}

pub(crate) unsafe fn set_info(win: Win, info: Info) -> Result {
    get(win)?.info().set_all(&*info::get_object(info)?);
    Ok(())
}

pub(crate) unsafe fn get_info(win: Win, info: *mut Info) -> Result {
    *info = info::make(get(win)?.info().clone());
    Ok(())
}
