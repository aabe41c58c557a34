//! Handling of errors: their error handlers, and the end of a job.

use std::cell::Cell;
use std::ffi::c_int;
use std::rc::Rc;

use call_stack::place_of_call;

use crate::abi::*;
use crate::failure::{Error, Result, code_of};
use crate::handler::{self, Handler, UserErrorHandler};
use crate::process::{engine_if_any, universe};
use crate::shared::Shared;
use crate::{codes, communicator, ending, file, notes, process, session, window};

/// The object whose error handler receives a failure.
pub(crate) enum On {
    /// The communicator, if it exists.
    Communicator(Comm),
    /// The window, if it exists.
    Window(Win),
    /// The error handler that the call passes for its new object, if it is one.
    Given(Errhandler),
    /// The session, if it exists.
    Session(Session),
    /// The window behind a pointer, which may be null.
    WindowAt(*const Win),
    /// MPI_COMM_SELF: the call names no communicator.
    Process,
    /// The file, or the default handler of files.
    File(File),
    /// The file behind a pointer, which may be null.
    FileAt(*const File),
    /// No handler: the tools interface only returns errors.
    Nobody,
}

/// Number of failed calls.
static FAILED: Shared<Cell<u64>> = Shared::new(|| Cell::new(0));

/// Returns [`FAILED`].
pub(crate) fn count() -> u64 {
    FAILED.get()
}

/// Calls the right error handler for a failure, and returns the code to return, which a user's handler may change.
#[cold]
pub(crate) fn raise(function: &'static str, on: On, failure: Error) -> c_int {
    FAILED.set(FAILED.get() + 1);
    engine_if_any().iter().for_each(|engine| engine.note_failed_call());
    let code = code_of(failure.class);
    let name = codes::name(code);
    let words = format!("{function}: {name}: {}", failure.message);
    codes::note(code, words.clone());
    let window = match on {
        On::Window(win) => Some(win),
        // SAFETY: a pointer that is not null was passed as that of a window.
        On::WindowAt(place) => unsafe { place.as_ref() }.copied(),
        _ => None,
    };
    if let Some(win) = window
        && let Ok(handler) = window::handler(win)
    {
        return apply(&handler, win.0, code, &words);
    }
    let file = match on {
        On::File(fh) => Some(fh),
        // SAFETY: a pointer that is not null was passed as that of a file.
        On::FileAt(place) => Some(unsafe { place.as_ref() }.copied().unwrap_or(FILE_NULL)),
        _ => None,
    };
    if let Some(fh) = file {
        return apply(&file::handler(fh), fh.0, code, &words);
    }
    if let On::Session(session) = on
        && let Ok(handler) = session::handler(session)
    {
        return apply(&handler, session.0, code, &words);
    }
    if let On::Given(handle) = on
        && let Ok(handler) = handler::get(handle)
    {
        return apply(&handler, COMM_NULL.0, code, &words);
    }
    let object = match on {
        On::Nobody => return code,
        On::Communicator(comm) if comm != COMM_SELF && communicator::get(comm).is_ok() => comm,
        _ => failure.context.and_then(communicator::with_context).unwrap_or_else(fallback),
    };
    let handler = communicator::handler(object).unwrap_or_else(|_| Rc::new(Handler::Fatal));
    apply(&handler, object.0, code, &words)
}

/// Returns the communicator whose handler receives failures that belong to no communicator, or to MPI_COMM_SELF. That
/// is MPI_COMM_SELF. Programs from before MPI 4 set only the handler of MPI_COMM_WORLD, and expect it to be used for
/// everything.
fn fallback() -> Comm {
    let own = communicator::handler(COMM_SELF);
    if own.is_ok_and(|own| matches!(*own, Handler::Fatal)) { COMM_WORLD } else { COMM_SELF }
}

fn apply(handler: &Handler, object: usize, code: c_int, words: &str) -> c_int {
    match handler {
        Handler::Return => code,
        Handler::User(UserErrorHandler { function, .. }) => {
            let (mut object, mut passed) = (object, code);
            // SAFETY: the program passed this function for this use, with these parameters.
            unsafe { function(&mut object, &mut passed) };
            passed
        }
        // If another rank has ended the run before, the launcher reports that rank's reason.
        Handler::Fatal | Handler::Abort => {
            // Words that name the places of two calls need no third.
            let place = if words.contains(" (/") { String::new() } else { place_of_call() };
            end_job(&format!("{words}{place}"), exit_status(code))
        }
    }
}

/// Returns an exit status that signals failure for each code.
fn exit_status(code: c_int) -> u8 {
    u8::try_from(code).ok().filter(|&status| status != 0).unwrap_or(1)
}

/// Ends every rank of the job. Only the first reason of a process is reported: what fails while it ends follows from it.
pub(crate) fn end_job(why: &str, status: u8) -> ! {
    if !ending::is_under_way() {
        let is_reported = match universe() {
            Some(universe) => universe.abort(why).is_some() || universe.ended_badly(),
            // An error before MPI_Init.
            None => launched::fail_before_joining(why),
        };
        if !is_reported || launched::is_alone() {
            let rank = universe().map(|_| format!("rank {}: ", process::rank()));
            notes::report(&format!("cornerstone: error: {}{why}", rank.unwrap_or_default()));
        }
    }
    ending::end(status)
}

pub(crate) unsafe fn set(comm: Comm, handle: Errhandler) -> Result {
    let handler = handler::get(handle)?;
    communicator::set_handler(comm, handler)
}

pub(crate) unsafe fn get_of(comm: Comm, handle: *mut Errhandler) -> Result {
    let handler = communicator::handler(comm)?;
    *handle = handler::handle_of(&handler);
    Ok(())
}

pub(crate) unsafe fn call(comm: Comm, code: c_int) -> Result {
    let handler = communicator::handler(comm)?;
    apply(&handler, comm.0, code, &format!("error {} raised by the program", codes::name(code)));
    Ok(())
}

pub(crate) unsafe fn call_of_window(win: Win, code: c_int) -> Result {
    let handler = window::handler(win)?;
    apply(&handler, win.0, code, &format!("error {} raised by the program", codes::name(code)));
    Ok(())
}

pub(crate) unsafe fn call_of_file(fh: File, code: c_int) -> Result {
    let words = format!("error {} raised by the program", codes::name(code));
    apply(&file::handler(fh), fh.0, code, &words);
    Ok(())
}

pub(crate) unsafe fn call_of_session(session: Session, code: c_int) -> Result {
    let handler = session::handler(session)?;
    let words = format!("error {} raised by the program", codes::name(code));
    apply(&handler, session.0, code, &words);
    Ok(())
}

pub(crate) unsafe fn abort(_comm: Comm, code: c_int) -> Result {
    let place = place_of_call();
    let why = format!("the program called MPI_Abort with error code {code}{place}");
    end_job(&why, exit_status(code))
}
