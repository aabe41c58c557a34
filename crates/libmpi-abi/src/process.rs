//! The state of this process in its run.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Engine, Universe};

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, ensure};
use crate::shared::Shared;
use crate::{ending, threads};

/// The state of the process with respect to MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    Running,
    After,
}

/// Values of which a process has one.
pub(crate) struct Process {
    pub(crate) phase: Cell<Phase>,
    /// Number of open sessions.
    sessions: Cell<usize>,
    /// True if there has ever been a session: then the process stays in the run until it ends, because another may
    /// follow.
    had_sessions: Cell<bool>,
    pub(crate) thread_level: Cell<c_int>,
    pub(crate) main_thread: Cell<libc::pthread_t>,
    universe: OnceCell<Universe<Chosen>>,
    /// Address and length of the program's buffer for buffered sends, if it has attached one.
    pub(crate) send_buffer: Cell<Option<(*mut c_void, i64)>>,
}

static PROCESS: Shared<Process> = Shared::new(|| Process {
    phase: Cell::new(Phase::Before),
    sessions: Cell::new(0),
    had_sessions: Cell::new(false),
    thread_level: Cell::new(THREAD_SINGLE),
    main_thread: Cell::new(0),
    universe: OnceCell::new(),
    send_buffer: Cell::new(None),
});

/// Returns the state of this process.
#[inline(always)]
pub(crate) fn process() -> &'static Process {
    &PROCESS
}

/// Joins the run, unless a session has done so.
pub(crate) fn start() -> Result<&'static Universe<Chosen>> {
    if let Some(universe) = universe() {
        ensure!(!universe.has_left(), ERR_OTHER, "MPI_Finalize has been called");
        return Ok(universe);
    }
    let fabric = Chosen::join()?;
    if let Some(observer) = fabric.library_observer() {
        threads::observe_calls(observer);
    }
    let universe = Universe::new(fabric);
    universe.engine().reach_other_runs_by(|chosen| chosen);
    Ok(process().universe.get_or_init(|| universe))
}

/// Returns the granted level of thread support. At the highest level, threads enter the library in turn.
pub(crate) fn granted(required: c_int) -> c_int {
    required.min(THREAD_MULTIPLE)
}

/// Joins the run for a session.
pub(crate) fn open_session() -> Result {
    start()?;
    let process = process();
    if !process.had_sessions.replace(true) {
        // SAFETY: the function lives as long as the library, which is never unloaded.
        let code = unsafe { libc::atexit(leave_at_exit) };
        ensure!(code == 0, ERR_OTHER, "no more functions for the end of the process");
    }
    process.sessions.set(process.sessions.get() + 1);
    Ok(())
}

/// Records the end of a session.
pub(crate) fn close_session() {
    process().sessions.set(process().sessions.get() - 1);
}

/// Leaves the run when the process ends, if sessions have kept it there and all have ended.
extern "C" fn leave_at_exit() {
    if !is_running()
        && !ending::is_under_way()
        && let Some(universe) = universe()
    {
        // The waits in there admit other threads and return at this thread's next turn, which a thread that had not
        // entered would never have.
        let _inside = crate::threads::enter();
        // No caller remains to which a failure could be reported; the other ranks detect it.
        let _ = universe.finalize();
    }
}

/// Leaves the run, unless sessions keep the process there.
pub(crate) fn leave() -> Result {
    match universe() {
        Some(universe) if !process().had_sessions.get() => universe.finalize(),
        _ => Ok(()),
    }
}

/// Returns whether the process may make calls.
fn is_running() -> bool {
    process().phase.get() == Phase::Running || process().sessions.get() > 0
}

/// Returns this process's participation in the run, from MPI_Init on.
#[inline(always)]
pub(crate) fn universe() -> Option<&'static Universe<Chosen>> {
    process().universe.get()
}

/// Returns the engine for the fastest paths: from MPI_Init on, also after its endpoint was taken.
#[inline(always)]
pub(crate) fn engine_if_any() -> Option<&'static Rc<Engine<Chosen>>> {
    Some(universe()?.engine())
}

/// Returns the engine of a running process.
///
/// # Errors
/// MPI_ERR_OTHER outside MPI_Init and MPI_Finalize and all sessions.
#[inline]
pub(crate) fn engine() -> Result<&'static Rc<Engine<Chosen>>> {
    check_running()?;
    Ok(engine_if_any().expect("a process that runs has an engine"))
}

/// Fails outside MPI_Init and MPI_Finalize and all sessions.
#[inline]
pub(crate) fn check_running() -> Result {
    ensure!(is_running(), ERR_OTHER, "{}", not_running());
    Ok(())
}

/// Returns the universe of a running process.
///
/// # Errors
/// As for [`check_running`].
pub(crate) fn running() -> Result<&'static Universe<Chosen>> {
    check_running()?;
    Ok(universe().expect("a process that runs has a universe"))
}

/// Returns why the process may not make calls.
pub(crate) fn not_running() -> &'static str {
    match process().phase.get() {
        Phase::After => "MPI_Finalize has been called",
        _ => "MPI_Init has not been called",
    }
}

/// Returns this process's rank in the world; 0 before it is known.
pub(crate) fn rank() -> usize {
    universe().map_or(0, |universe| universe.engine().rank())
}

/// Returns the number of processes of the world; 1 before it is known.
pub(crate) fn size() -> usize {
    universe().map_or(1, |universe| universe.engine().size())
}
