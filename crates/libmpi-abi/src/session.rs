//! Sessions: parts of a program that use MPI independently of each other, and without MPI_Init.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use call_stack::CallSite;
use mpi::{Group as Members, SendBuffer};

use crate::abi::*;
use crate::arguments::IntOrCountMut;
use crate::failure::{Result, ensure, error_of};
use crate::handle::{Objects, Table};
use crate::handler::{self, Handler};
use crate::process::{self, engine};
use crate::shared::Shared;
use crate::{group, info, point, request, text};

/// The target of a session's handle.
pub(crate) struct Object {
    handler: RefCell<Rc<Handler>>,
    info: mpi::Info,
    send_buffer: Rc<SendBuffer>,
    /// Address and length of the buffer for buffered sends, if the program has attached one.
    attached: Cell<Option<(*mut c_void, i64)>>,
}

static SESSIONS: Objects<Object> = Shared::new(|| RefCell::new(Table::new()));

/// The sets of processes, by their names.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// Levels of thread support, as hints name them.
const LEVELS: [(&str, c_int); 4] = [
    ("MPI_THREAD_SINGLE", THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", THREAD_MULTIPLE),
];

fn get(session: Session) -> Result<Rc<Object>> {
    SESSIONS.get(session).ok_or_else(|| error_of(ERR_SESSION, "not a session"))
}

/// Returns the calls that have made the sessions which are not freed.
pub(crate) fn makers() -> Vec<CallSite> {
    SESSIONS.makers()
}

/// Returns the level of thread support that hints request; without a request, that of MPI_Init_thread.
fn wanted_level(hints: &mpi::Info) -> Result<c_int> {
    let Some(wanted) = hints.get("thread_level") else {
        return Ok(process::process().thread_level.get());
    };
    let found = LEVELS.iter().find(|(name, _)| *name == wanted);
    let wrong = || error_of(ERR_INFO_VALUE, format!("there is no thread_level {wanted:?}"));
    Ok(found.ok_or_else(wrong)?.1)
}

pub(crate) unsafe fn init(hints: Info, handler: Errhandler, session: *mut Session) -> Result {
    let (hints, handler) = (info::copy_or_none(hints)?, handler::get(handler)?);
    let level = process::granted(wanted_level(&hints)?);
    process::open_session()?;
    let used = mpi::Info::new();
    let name = LEVELS.iter().find(|(_, one)| *one == level).map_or("", |(name, _)| *name);
    used.set("thread_level", name);
    let attached = Cell::new(None);
    let object =
        Object { handler: RefCell::new(handler), info: used, send_buffer: Rc::default(), attached };
    *session = SESSIONS.add(Rc::new(object));
    Ok(())
}

pub(crate) unsafe fn finalize(session: *mut Session) -> Result {
    let object = get(*session)?;
    object.send_buffer.flush(engine()?)?;
    SESSIONS.remove(*session);
    *session = SESSION_NULL;
    process::close_session();
    Ok(())
}

/// Returns the members of a set, whose name may be in upper or lower case.
fn members(name: &str) -> Result<Members> {
    let found = SETS.iter().position(|one| one.eq_ignore_ascii_case(name));
    match found {
        Some(0) => Ok(Members::world(process::size())),
        Some(_) => Ok(vec![process::rank()].into()),
        None => Err(error_of(ERR_ARG, format!("there is no set of processes {name:?}"))),
    }
}

pub(crate) unsafe fn number_of_sets(session: Session, _hints: Info, count: *mut c_int) -> Result {
    get(session)?;
    *count = SETS.len() as c_int;
    Ok(())
}

/// Returns the name of a set. `length` is the room including the zero at the end, and becomes the required length;
/// without room only that is set.
pub(crate) unsafe fn nth_set(
    session: Session,
    _hints: Info,
    index: c_int,
    length: *mut c_int,
    name: *mut c_char,
) -> Result {
    get(session)?;
    let set = usize::try_from(index).ok().and_then(|index| SETS.get(index));
    let set =
        set.ok_or_else(|| error_of(ERR_ARG, format!("no set of processes number {index}")))?;
    if *length > 0 {
        ensure!(!name.is_null(), ERR_ARG, "pset_name is a null pointer");
        text::write(set, name, *length, std::ptr::null_mut());
    }
    *length = set.len() as c_int + 1;
    Ok(())
}

pub(crate) unsafe fn set_info(session: Session, name: *const c_char, place: *mut Info) -> Result {
    get(session)?;
    let pairs = mpi::Info::new();
    pairs.set("mpi_size", members(&text::read(name)?)?.size().to_string());
    *place = info::make(pairs);
    Ok(())
}

pub(crate) unsafe fn group_of_set(
    session: Session,
    name: *const c_char,
    new: *mut Group,
) -> Result {
    let object = get(session)?;
    let members = members(&text::read(name)?)?;
    *new = group::make_of_session(members, object.send_buffer.clone());
    Ok(())
}

pub(crate) unsafe fn get_info(session: Session, place: *mut Info) -> Result {
    *place = info::make(mpi::Info::from_pairs(get(session)?.info.pairs()));
    Ok(())
}

/// Returns the error handler of a session.
pub(crate) fn handler(session: Session) -> Result<Rc<Handler>> {
    Ok(get(session)?.handler.borrow().clone())
}

pub(crate) unsafe fn set_handler(session: Session, handle: Errhandler) -> Result {
    let handler = handler::get(handle)?;
    *get(session)?.handler.borrow_mut() = handler;
    Ok(())
}

pub(crate) unsafe fn get_handler(session: Session, handle: *mut Errhandler) -> Result {
    *handle = handler::handle_of(&handler(session)?);
    Ok(())
}

pub(crate) unsafe fn attach(session: Session, buffer: *mut c_void, size: i64) -> Result {
    let object = get(session)?;
    point::attach_to(&object.send_buffer, &object.attached, buffer, size)
}

pub(crate) unsafe fn detach(session: Session, place: *mut c_void, size: IntOrCountMut) -> Result {
    let object = get(session)?;
    point::detach_from(&object.send_buffer, &object.attached, place, size)
}

pub(crate) unsafe fn flush(session: Session) -> Result {
    get(session)?.send_buffer.flush(engine()?)
}

pub(crate) unsafe fn flush_later(session: Session, request: *mut Request) -> Result {
    let buffer = get(session)?.send_buffer.clone();
    *request = request::register(mpi::Request::flush(engine()?, buffer));
    Ok(())
}
