//! Communicators: their handles, and their attributes for C.

mod attribute;
mod between;
mod make;
mod parent;

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Context, Group as Members, Universe};

pub(crate) use attribute::*;
pub(crate) use between::*;
pub(crate) use make::*;
pub(crate) use parent::*;

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Error, Result, ensure, error_of};
use crate::handle::{Table, is_predefined};
use crate::handler::{self, Handler};
use crate::process::{Phase, not_running, process};
use crate::shared::Shared;
use crate::text;
use crate::{group, info};

/// A communicator over the fabric of this process.
pub(crate) type Communicator = mpi::Communicator<Chosen>;

/// The target of a communicator's handle.
#[derive(Clone)]
pub(crate) struct Object {
    /// Context of the communicator, without an indirection.
    pub(crate) context: Rc<Context<Chosen>>,
    pub(crate) communicator: Rc<Communicator>,
    pub(crate) of_c: Rc<OfC>,
}

/// The attributes of a communicator for C.
pub(crate) struct OfC {
    handler: RefCell<Rc<Handler>>,
    /// Address and length of its buffer for buffered sends, if the program has attached one.
    pub(crate) send_buffer: Cell<Option<(*mut c_void, i64)>>,
}

/// The communicators of this process.
pub(crate) static COMMUNICATORS: Shared<RefCell<Table<Object>>> =
    Shared::new(|| RefCell::new(Table::new()));

impl Object {
    fn new(communicator: Rc<Communicator>, handler: Rc<Handler>) -> Self {
        let of_c = OfC { handler: RefCell::new(handler), send_buffer: Cell::new(None) };
        Object { context: communicator.context().clone(), communicator, of_c: Rc::new(of_c) }
    }
}

/// Returns the target of a handle.
pub(crate) fn get_object(comm: Comm) -> Result<Object> {
    COMMUNICATORS.borrow().get(comm).cloned().ok_or_else(|| no_communicator(comm))
}

/// Returns the communicator of a handle.
#[inline(always)]
pub(crate) fn get(comm: Comm) -> Result<Rc<Communicator>> {
    match COMMUNICATORS.borrow().get(comm) {
        Some(object) => Ok(object.communicator.clone()),
        None => Err(no_communicator(comm)),
    }
}

/// Returns the context of a handle's communicator, for messages only.
#[inline(always)]
pub(crate) fn context(comm: Comm) -> Result<Rc<Context<Chosen>>> {
    match COMMUNICATORS.borrow().get(comm) {
        Some(object) => Ok(object.context.clone()),
        None => Err(no_communicator(comm)),
    }
}

#[cold]
fn no_communicator(comm: Comm) -> Error {
    let why = match (process().phase.get(), comm) {
        (Phase::Running, COMM_NULL) => "MPI_COMM_NULL is no communicator",
        (Phase::Running, _) => "not a communicator, or one that was freed",
        (Phase::Before | Phase::After, _) => not_running(),
    };
    error_of(ERR_COMM, why)
}

/// Returns the handle of the communicator with a context.
pub(crate) fn with_context(number: u32) -> Option<Comm> {
    COMMUNICATORS.borrow().find(|one| one.context.number() == number)
}

/// Returns a handle for a new communicator with the error handler of an old one, or the null handle for `None`.
pub(crate) fn register(new: Option<Communicator>, old: &Object) -> Comm {
    match new {
        Some(new) => {
            let object = Object::new(Rc::new(new), old.of_c.handler.borrow().clone());
            COMMUNICATORS.borrow_mut().add(object)
        }
        None => COMM_NULL,
    }
}

/// Creates MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn predefine(universe: &Universe<Chosen>) {
    let mut table = COMMUNICATORS.borrow_mut();
    let object = |one: &Rc<Communicator>| Object::new(one.clone(), Rc::new(handler::initial()));
    table.predefine(COMM_WORLD, object(universe.world()));
    table.predefine(COMM_SELF, object(universe.own()));
}

/// Returns the calls that have made the communicators which are not freed. MPI_Init has made that with the parent first.
pub(crate) fn makers() -> Vec<CallSite> {
    COMMUNICATORS.borrow().makers().split_off(usize::from(has_parent()))
}

/// Returns the error handler of a communicator.
pub(crate) fn handler(comm: Comm) -> Result<Rc<Handler>> {
    Ok(get_object(comm)?.of_c.handler.borrow().clone())
}

/// Sets the error handler of a communicator.
pub(crate) fn set_handler(comm: Comm, handler: Rc<Handler>) -> Result {
    *get_object(comm)?.of_c.handler.borrow_mut() = handler;
    Ok(())
}

pub(crate) unsafe fn free(comm: *mut Comm) -> Result {
    let one = get(*comm)?;
    ensure!(!is_predefined(*comm), ERR_COMM, "a predefined communicator");
    one.free((*comm).0)?;
    COMMUNICATORS.borrow_mut().remove(*comm);
    forget_parent(*comm);
    *comm = COMM_NULL;
    Ok(())
}

pub(crate) unsafe fn size(comm: Comm, size: *mut c_int) -> Result {
    *size = get(comm)?.size() as c_int;
    Ok(())
}

pub(crate) unsafe fn rank(comm: Comm, rank: *mut c_int) -> Result {
    *rank = get(comm)?.rank() as c_int;
    Ok(())
}

pub(crate) unsafe fn compare(one: Comm, other: Comm, result: *mut c_int) -> Result {
    *result = group::comparison(get(one)?.compare(&*get(other)?));
    Ok(())
}

/// Returns the group of a communicator.
pub(crate) unsafe fn group(comm: Comm, group: *mut Group) -> Result {
    *group = group::make_any(get(comm)?.group());
    Ok(())
}

pub(crate) unsafe fn test_inter(comm: Comm, flag: *mut c_int) -> Result {
    *flag = c_int::from(get(comm)?.remote_group().is_some());
    Ok(())
}

fn remote(communicator: &Communicator) -> Result<&Members> {
    let found = communicator.remote_group();
    found.ok_or_else(|| error_of(ERR_COMM, "not an intercommunicator"))
}

pub(crate) unsafe fn remote_size(comm: Comm, size: *mut c_int) -> Result {
    *size = remote(&*get(comm)?)?.size() as c_int;
    Ok(())
}

pub(crate) unsafe fn remote_group(comm: Comm, group: *mut Group) -> Result {
    *group = group::make_any(remote(&*get(comm)?)?.clone());
    Ok(())
}

pub(crate) unsafe fn set_name(comm: Comm, name: *const c_char) -> Result {
    get(comm)?.set_name(text::read(name)?);
    Ok(())
}

pub(crate) unsafe fn get_name(comm: Comm, name: *mut c_char, length: *mut c_int) -> Result {
    if comm == COMM_NULL {
        text::write("MPI_COMM_NULL", name, MAX_OBJECT_NAME, length);
        return Ok(());
    }
    text::write(&get(comm)?.name(), name, MAX_OBJECT_NAME, length);
    Ok(())
}

pub(crate) unsafe fn set_info(comm: Comm, info: Info) -> Result {
    let one = get(comm)?;
    one.info().set_all(&*info::get_object(info)?);
    Ok(())
}

pub(crate) unsafe fn get_info(comm: Comm, info: *mut Info) -> Result {
    *info = info::make(get(comm)?.copied_info());
    Ok(())
}
