//! What this process knows of its run.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mpi::{Engine, Universe};

use crate::abi::*;
use crate::chosen::Chosen;
use crate::failure::{Result, ensure};
use crate::shared::Shared;

/// Where the process stands between MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    Running,
    After,
}

/// What there is one of in a process.
pub(crate) struct Process {
    pub(crate) phase: Cell<Phase>,
    pub(crate) thread_level: Cell<c_int>,
    pub(crate) main_thread: Cell<libc::pthread_t>,
    universe: OnceCell<Universe<Chosen>>,
    /// Where the program's buffer for buffered sends lies, and how long it is, if it has attached one.
    pub(crate) send_buffer: Cell<Option<(*mut c_void, i64)>>,
}

static PROCESS: Shared<Process> = Shared::new(|| Process {
    phase: Cell::new(Phase::Before),
    thread_level: Cell::new(THREAD_SINGLE),
    main_thread: Cell::new(0),
    universe: OnceCell::new(),
    send_buffer: Cell::new(None),
});

/// The one value.
#[inline(always)]
pub(crate) fn process() -> &'static Process {
    &PROCESS
}

/// Joins the run.
pub(crate) fn start() -> Result<&'static Universe<Chosen>> {
    let universe = Universe::new(Chosen::join()?);
    Ok(process().universe.get_or_init(|| universe))
}

/// This process's part in the run, from MPI_Init on.
#[inline(always)]
pub(crate) fn universe() -> Option<&'static Universe<Chosen>> {
    process().universe.get()
}

/// The engine, for the shortest ways: from MPI_Init on, also when its endpoint is gone.
#[inline(always)]
pub(crate) fn engine_if_any() -> Option<&'static Rc<Engine<Chosen>>> {
    Some(universe()?.engine())
}

/// The engine of a process that runs.
///
/// # Errors
/// MPI_ERR_OTHER outside MPI_Init and MPI_Finalize.
#[inline]
pub(crate) fn engine() -> Result<&'static Rc<Engine<Chosen>>> {
    check_running()?;
    Ok(engine_if_any().expect("a process that runs has an engine"))
}

/// Fails outside MPI_Init and MPI_Finalize.
#[inline]
pub(crate) fn check_running() -> Result {
    ensure!(process().phase.get() == Phase::Running, ERR_OTHER, "{}", not_running());
    Ok(())
}

fn not_running() -> &'static str {
    match process().phase.get() {
        Phase::After => "MPI_Finalize has been called",
        _ => "MPI_Init has not been called",
    }
}

/// This process's rank in the world; 0 before it is known.
pub(crate) fn rank() -> usize {
    universe().map_or(0, |universe| universe.engine().rank())
}

/// How many processes the world has; 1 before that is known.
pub(crate) fn size() -> usize {
    universe().map_or(1, |universe| universe.engine().size())
}
