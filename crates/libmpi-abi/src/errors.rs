//! Error handlers, error classes and codes of users, and what errors are called.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use crate::abi::*;
use crate::communicator;
use crate::failure::{Error, Result, code_of, ensure, error_of};
use crate::handle::Table;
use crate::process::{Phase, process};
use crate::text;

/// An error handler.
pub(crate) enum Handler {
    /// Ends the whole job.
    Fatal,
    /// Ends this process and with it the job.
    Abort,
    /// Leaves it to the return code.
    Return,
    /// A function of the user, which gets the object and the code.
    User(UserHandler),
}

/// Whose error handler a failure goes to.
pub(crate) enum On {
    /// The communicator's, if there is such a communicator.
    Communicator(Comm),
    /// That of MPI_COMM_SELF: the call names no communicator.
    Process,
    /// The default of files, which is to return.
    File,
    /// None: the tools interface only returns.
    Nobody,
}

type UserHandler = unsafe extern "C" fn(*mut usize, *mut c_int, ...);

/// What users have added, and the handler of calls that name no communicator before there is one.
pub(crate) struct Errors {
    first_free_code: Cell<c_int>,
    /// By code: its class, and its text if it has one.
    added: RefCell<BTreeMap<c_int, (c_int, String)>>,
    /// The value behind the attribute MPI_LASTUSEDCODE.
    pub(crate) last_used_code: Box<Cell<c_int>>,
    /// What failed last with each code, in words.
    latest: RefCell<BTreeMap<c_int, String>>,
}

impl Default for Errors {
    fn default() -> Self {
        Errors {
            first_free_code: Cell::new(ERR_LASTCODE + 1),
            added: RefCell::default(),
            last_used_code: Box::new(Cell::new(ERR_LASTCODE)),
            latest: RefCell::default(),
        }
    }
}

pub(crate) fn predefine(table: &mut Table<Rc<Handler>>) {
    table.predefine(ERRORS_ARE_FATAL, Rc::new(Handler::Fatal));
    table.predefine(ERRORS_ABORT, Rc::new(Handler::Abort));
    table.predefine(ERRORS_RETURN, Rc::new(Handler::Return));
}

/// The handler behind a handle.
pub(crate) fn get(handle: Errhandler) -> Result<Rc<Handler>> {
    let found = process().handlers.borrow().get(handle).cloned();
    found.ok_or_else(|| error_of(ERR_ERRHANDLER, "not an error handler"))
}

/// Has the right handler deal with a failure, and gives the code to return.
#[cold]
pub(crate) fn raise(function: &'static str, on: On, failure: Error) -> c_int {
    let code = code_of(failure.class);
    let name = class_name(code);
    let words = format!("{function}: {name}: {}", failure.message);
    process().errors.latest.borrow_mut().insert(code, words.clone());
    let object = match on {
        On::Nobody | On::File => return code,
        On::Communicator(comm) if comm != COMM_SELF && communicator::get(comm).is_ok() => comm,
        _ => failure.context.and_then(communicator::with_context).unwrap_or_else(fallback),
    };
    let handler = match communicator::get(object) {
        Ok(communicator) => communicator.handler(),
        Err(_) => (Rc::new(Handler::Fatal), ERRORS_ARE_FATAL).0,
    };
    apply(&handler, object, code, &words)
}

/// The communicator whose handler gets what belongs to none, or to MPI_COMM_SELF. That is MPI_COMM_SELF; programs of
/// the time before MPI 4 set only that of MPI_COMM_WORLD, and mean it for everything.
fn fallback() -> Comm {
    let untouched =
        |comm| communicator::get(comm).is_ok_and(|one| matches!(*one.handler(), Handler::Fatal));
    if untouched(COMM_SELF) { COMM_WORLD } else { COMM_SELF }
}

fn apply(handler: &Handler, object: Comm, code: c_int, words: &str) -> c_int {
    match handler {
        Handler::Return => code,
        Handler::User(function) => {
            let (mut object, mut passed) = (object.0, code);
            // SAFETY: the user gave this function for this use, with these parameters.
            unsafe { function(&mut object, &mut passed) };
            code
        }
        // If another rank has ended the run before, the launcher keeps to what that one said.
        Handler::Fatal | Handler::Abort => end_job(words, exit_status(code)),
    }
}

/// A status that says failure for each code.
fn exit_status(code: c_int) -> c_int {
    if (1..=255).contains(&code) { code } else { 1 }
}

/// Ends every rank of the job.
pub(crate) fn end_job(why: &str, status: c_int) -> ! {
    let endpoint = process().endpoint.try_borrow_mut().ok().and_then(|mut held| held.take());
    let rank = process().rank.get();
    if endpoint.is_none() || process().size.get() == 1 {
        eprintln!("rank {rank}: {why}");
    }
    if let Some(endpoint) = endpoint {
        endpoint.abort(why);
    }
    std::process::exit(status);
}

fn class_name(code: c_int) -> String {
    let class = class_of(code);
    let known = ERROR_CLASSES.iter().find(|(known, _)| *known == class);
    known.map_or_else(|| format!("error code {code}"), |(_, name)| (*name).into())
}

fn class_of(code: c_int) -> c_int {
    process().errors.added.borrow().get(&code).map_or(code, |(class, _)| *class)
}

fn is_known(code: c_int) -> bool {
    let added = process().errors.added.borrow().contains_key(&code);
    added || ERROR_CLASSES.iter().any(|(known, _)| *known == code)
}

pub(crate) unsafe fn error_class(code: c_int, class: *mut c_int) -> Result {
    ensure!(is_known(code) || code == ERR_LASTCODE, ERR_ARG, "{code} is not an error code");
    *class = class_of(code);
    Ok(())
}

pub(crate) unsafe fn error_string(code: c_int, string: *mut c_char, length: *mut c_int) -> Result {
    ensure!(is_known(code) || code == ERR_LASTCODE, ERR_ARG, "{code} is not an error code");
    let errors = &process().errors;
    let words = match errors.added.borrow().get(&code) {
        Some((_, text)) => text.clone(),
        None if code == SUCCESS => "MPI_SUCCESS: no error".into(),
        None => match errors.latest.borrow().get(&code) {
            Some(latest) => format!("{} (latest: {latest})", class_name(code)),
            None => class_name(code),
        },
    };
    text::write(&words, string, MAX_ERROR_STRING, length);
    Ok(())
}

fn add(class: Option<c_int>) -> c_int {
    let errors = &process().errors;
    let code = errors.first_free_code.get();
    errors.first_free_code.set(code + 1);
    errors.last_used_code.set(code);
    errors.added.borrow_mut().insert(code, (class.unwrap_or(code), String::new()));
    code
}

pub(crate) unsafe fn add_error_class(class: *mut c_int) -> Result {
    *class = add(None);
    Ok(())
}

pub(crate) unsafe fn add_error_code(class: c_int, code: *mut c_int) -> Result {
    ensure!(is_known(class), ERR_ARG, "{class} is not an error class");
    *code = add(Some(class));
    Ok(())
}

pub(crate) unsafe fn add_error_string(code: c_int, string: *const c_char) -> Result {
    let words = text::read(string)?;
    let mut added = process().errors.added.borrow_mut();
    let entry = added.get_mut(&code);
    let entry = entry.ok_or_else(|| error_of(ERR_ARG, format!("{code} was not added")))?;
    entry.1 = words;
    Ok(())
}

/// Codes and classes are one here: removing either frees its number only if it is the newest.
pub(crate) unsafe fn remove_error(code: c_int) -> Result {
    let errors = &process().errors;
    let used_by_others =
        errors.added.borrow().iter().any(|(other, (class, _))| *class == code && *other != code);
    ensure!(!used_by_others, ERR_ARG, "{code} still has error codes");
    let has_text = errors.added.borrow().get(&code).is_some_and(|(_, text)| !text.is_empty());
    ensure!(!has_text, ERR_ARG, "{code} still has an error string");
    let removed = errors.added.borrow_mut().remove(&code);
    ensure!(removed.is_some(), ERR_ARG, "{code} was not added");
    let last = errors.added.borrow().keys().last().copied().unwrap_or(ERR_LASTCODE);
    errors.last_used_code.set(last);
    errors.first_free_code.set(last + 1);
    Ok(())
}

pub(crate) unsafe fn remove_error_string(code: c_int) -> Result {
    let mut added = process().errors.added.borrow_mut();
    let entry = added.get_mut(&code);
    entry.ok_or_else(|| error_of(ERR_ARG, format!("{code} was not added")))?.1.clear();
    Ok(())
}

pub(crate) unsafe fn create(function: *mut c_void, handle: *mut Errhandler) -> Result {
    ensure!(!function.is_null(), ERR_ARG, "the function is a null pointer");
    let function = std::mem::transmute::<*mut c_void, UserHandler>(function);
    *handle = process().handlers.borrow_mut().add(Rc::new(Handler::User(function)));
    Ok(())
}

pub(crate) unsafe fn free(handle: *mut Errhandler) -> Result {
    get(*handle)?;
    // Who uses it holds it still.
    process().handlers.borrow_mut().remove(*handle);
    *handle = ERRHANDLER_NULL;
    Ok(())
}

pub(crate) unsafe fn set(comm: Comm, handle: Errhandler) -> Result {
    let handler = get(handle)?;
    communicator::get(comm)?.set_handler(handler);
    Ok(())
}

pub(crate) unsafe fn get_of(comm: Comm, handle: *mut Errhandler) -> Result {
    let handler = communicator::get(comm)?.handler();
    *handle = match *handler {
        Handler::Fatal => ERRORS_ARE_FATAL,
        Handler::Abort => ERRORS_ABORT,
        Handler::Return => ERRORS_RETURN,
        // A new handle of the same handler, to be freed by itself.
        Handler::User(_) => process().handlers.borrow_mut().add(handler.clone()),
    };
    Ok(())
}

pub(crate) unsafe fn call(comm: Comm, code: c_int) -> Result {
    let handler = communicator::get(comm)?.handler();
    apply(&handler, comm, code, &format!("error {} raised by the program", class_name(code)));
    Ok(())
}

pub(crate) unsafe fn abort(_comm: Comm, code: c_int) -> Result {
    let why = format!("the program called MPI_Abort with error code {code}");
    if process().phase.get() != Phase::Running {
        eprintln!("{why}");
        std::process::exit(exit_status(code));
    }
    end_job(&why, exit_status(code))
}
