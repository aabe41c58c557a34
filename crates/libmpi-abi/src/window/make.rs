//! Creation and freeing of windows.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::Exposed;

use super::attribute::Numbers;
use super::{Object, OfC, WINDOWS, Window, get};
use crate::abi::*;
use crate::arguments::{IntOrCountMut, store};
use crate::communicator::{self, Communicator};
use crate::failure::{Result, ensure};
use crate::handler::Handler;
use crate::info;

/// Returns a handle for a new window, whose errors are fatal.
fn register(window: Window) -> Win {
    let numbers = Numbers::of(&window);
    let of_c = OfC { handler: RefCell::new(Rc::new(Handler::Fatal)), numbers };
    WINDOWS.borrow_mut().add(Object { window: Rc::new(window), of_c: Rc::new(of_c) })
}

pub(crate) unsafe fn create(
    base: *mut c_void,
    size: i64,
    unit: i64,
    info: Info,
    comm: Comm,
    win: *mut Win,
) -> Result {
    ensure!(size >= 0, ERR_SIZE, "{size} bytes");
    let (comm, info) = (communicator::get(comm)?, info::copy_or_none(info)?);
    let memory = Exposed::new(base.cast(), size as u64);
    *win = register(Window::create(&comm, memory, unit, info)?);
    Ok(())
}

/// Stores the address of the program's memory; `place` is that of a pointer.
unsafe fn store_base(place: *mut c_void, base: *mut u8) {
    store(place, base);
}

/// A constructor of a window that allocates its memory, from C's arguments.
type Allocate = fn(&Communicator, i64, i64, mpi::Info) -> Result<Window>;

/// Implements MPI_Win_allocate and MPI_Win_allocate_shared, as `allocate` specifies.
pub(crate) unsafe fn allocate(
    size: i64,
    unit: i64,
    info: Info,
    comm: Comm,
    base: *mut c_void,
    win: *mut Win,
    allocate: Allocate,
) -> Result {
    let (comm, info) = (communicator::get(comm)?, info::copy_or_none(info)?);
    let window = allocate(&comm, size, unit, info)?;
    store_base(base, window.base());
    *win = register(window);
    Ok(())
}

pub(crate) unsafe fn create_dynamic(info: Info, comm: Comm, win: *mut Win) -> Result {
    let (comm, info) = (communicator::get(comm)?, info::copy_or_none(info)?);
    *win = register(Window::create_dynamic(&comm, info)?);
    Ok(())
}

pub(crate) unsafe fn free(win: *mut Win) -> Result {
    let window = get(*win)?;
    window.free((*win).0)?;
    WINDOWS.borrow_mut().remove(*win);
    *win = WIN_NULL;
    Ok(())
}

pub(crate) unsafe fn attach(win: Win, base: *mut c_void, size: i64) -> Result {
    ensure!(size >= 0, ERR_SIZE, "{size} bytes");
    get(win)?.attach(base.cast(), size as u64)
}

pub(crate) unsafe fn detach(win: Win, base: *const c_void) -> Result {
    get(win)?.detach(base.cast())
}

pub(crate) unsafe fn shared_query(
    win: Win,
    rank: c_int,
    size: *mut i64,
    unit: IntOrCountMut,
    base: *mut c_void,
) -> Result {
    let window = get(win)?;
    let wanted = match rank {
        PROC_NULL => None,
        rank => Some(usize::try_from(rank).unwrap_or(usize::MAX)),
    };
    let (start, bytes, each) = window.query(wanted)?;
    *size = bytes as i64;
    unit.write(each);
    store_base(base, start);
    Ok(())
}
