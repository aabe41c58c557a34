//! What this process knows: its endpoint, and the tables behind the handles.

use std::cell::{Cell, RefCell, RefMut};
use std::ffi::c_int;
use std::rc::Rc;

use fabric_shm::ShmEndpoint as Endpoint;

use crate::abi::*;
use crate::collective::Schedules;
use crate::communicator::Communicator;
use crate::environment::SharedMemory;
use crate::failure::{Result, ensure, error_of};
use crate::handle::Table;
use crate::point::{Claimed, SendBuffer};
use crate::request::{Lights, RequestObject};
use crate::shared::Shared;

/// Where the process stands between MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Before,
    Running,
    After,
}

/// Everything.
pub(crate) struct Process {
    pub(crate) phase: Cell<Phase>,
    /// This rank is in MPI_Finalize, and has told the others.
    pub(crate) leaving: Cell<bool>,
    pub(crate) thread_level: Cell<c_int>,
    pub(crate) main_thread: Cell<libc::pthread_t>,
    pub(crate) endpoint: RefCell<Option<Endpoint>>,
    /// This rank and the number of ranks, known without a look at the endpoint.
    pub(crate) rank: Cell<usize>,
    pub(crate) size: Cell<usize>,
    pub(crate) communicators: RefCell<Table<Rc<Communicator>>>,
    pub(crate) requests: RefCell<Table<Rc<RequestObject>>>,
    pub(crate) lights: Lights,
    /// Requests that were freed while they were under way: their buffers are needed until they end.
    pub(crate) orphans: RefCell<Vec<Rc<RequestObject>>>,
    /// The number of the next message that a matched probe finds.
    pub(crate) next_claim: Cell<u32>,
    pub(crate) messages: RefCell<Table<Rc<Claimed>>>,
    pub(crate) schedules: Schedules,
    pub(crate) send_buffer: SendBuffer,
    /// What MPI_Alloc_mem gave out and all ranks see.
    pub(crate) shared_memory: RefCell<SharedMemory>,
    /// Times the number of ranks, plus this rank: the next context that this process gives out.
    pub(crate) next_context: Cell<u32>,
}

static PROCESS: Shared<Process> = Shared::new(|| Process {
    phase: Cell::new(Phase::Before),
    leaving: Cell::new(false),
    thread_level: Cell::new(THREAD_SINGLE),
    main_thread: Cell::new(0),
    endpoint: RefCell::new(None),
    rank: Cell::new(0),
    size: Cell::new(1),
    communicators: RefCell::new(Table::new()),
    requests: RefCell::new(Table::new()),
    lights: Lights::default(),
    orphans: RefCell::default(),
    next_claim: Cell::new(0),
    messages: RefCell::new(Table::new()),
    schedules: Schedules::default(),
    send_buffer: SendBuffer::default(),
    shared_memory: RefCell::default(),
    next_context: Cell::new(0),
});

/// The one value.
#[inline(always)]
pub(crate) fn process() -> &'static Process {
    &PROCESS
}

/// The endpoint, for as long as nobody else uses it.
#[inline(always)]
pub(crate) fn endpoint() -> Result<RefMut<'static, Endpoint>> {
    let held = process().endpoint.try_borrow_mut();
    let held = held.map_err(|_| {
        error_of(ERR_OTHER, "a user's function called back into communication that is under way")
    })?;
    ensure!(held.is_some(), ERR_OTHER, "{}", not_running());
    Ok(RefMut::map(held, |one| one.as_mut().expect("just checked")))
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
