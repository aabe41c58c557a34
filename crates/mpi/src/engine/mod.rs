//! The state that all communicators and requests of a process share: its endpoint, and everything in progress.

mod activity;
mod call_log;
mod context;
mod generalized;
mod identity;
mod message_log;
mod polling;
mod polls;
mod send_buffer;
mod setups;
mod turns;
mod waiting;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::rc::Rc;

use contract::{
    BETWEEN_RUNS, ContextNumbers, Destination, Endpoint, Envelope, OtherRuns, wait_reports,
};

pub(crate) use activity::{Activity, Orphan};
use call_log::CallLogs;
pub(crate) use call_log::{Agreed, CallLog, KEPT as KEPT_CALLS, LoggedCall};
pub use context::Context;
pub(crate) use context::{BETWEEN_TAGS, GROUP_TAGS, Levels};
pub use generalized::Generalized;
use generalized::OpenGeneralized;
use identity::Identities;
pub(crate) use identity::{MadeCall, WindowWaits};
pub use message_log::MessageLog;
pub(crate) use message_log::Noted;
pub(crate) use polling::Polled;
pub use send_buffer::{Capacity, SendBuffer, SendBuffers};
pub(crate) use setups::{AwaitsSetup, Setup};
pub use turns::OtherThreads;

use crate::datatype::Signature;
use crate::error::{Error, ErrorClass, Result};
use activity::Activities;
use polls::Polls;
use setups::Setups;

/// The contexts of the world and of each process alone, which no agreement uses.
pub(crate) const WORLD_CONTEXT: u32 = 0;
/// See [`WORLD_CONTEXT`].
pub(crate) const SELF_CONTEXT: u32 = 1;
/// The context in which groups of the world agree that have no common communicator.
pub(crate) const GROUPS_CONTEXT: u32 = 2;
const KEPT_CONTEXTS: u32 = 3;

/// Returns the connections of an endpoint to other runs.
type ToOtherRuns<E> = fn(&mut E) -> &mut dyn OtherRuns;

/// One process's engine.
pub struct Engine<E: Endpoint> {
    /// `None` after the process has left the run.
    endpoint: RefCell<Option<E>>,
    rank: usize,
    size: usize,
    /// True if every rank has a processor, so that no idle poll delays another rank.
    has_processor: bool,
    polls: Polls,
    /// Set once the program has requested several threads.
    others: OnceCell<&'static dyn OtherThreads>,
    /// Set once the program has started a generalized request.
    generalized: OnceCell<Rc<OpenGeneralized>>,
    /// Returns the connections of the endpoint to other runs. Set if it has any.
    other_runs: OnceCell<ToOtherRuns<E>>,
    activities: Activities<E>,
    orphans: RefCell<Vec<Box<dyn Orphan<E>>>>,
    numbers: RefCell<ContextNumbers>,
    identities: Rc<Identities>,
    /// Number of the next message that a matched probe finds.
    next_claim: Cell<u32>,
    /// This process is about to leave the run, and has announced that.
    leaving: Cell<bool>,
    send_buffer: Rc<SendBuffer>,
    pub(crate) call_logs: CallLogs,
    synchronous: Cell<bool>,
    messages: MessageLog,
    failed_calls: Cell<u64>,
}

impl<E: Endpoint> Engine<E> {
    /// Creates the engine over an endpoint.
    pub fn new(mut endpoint: E) -> Self {
        let identities = Rc::<Identities>::default();
        if let Some(reports) = wait_reports(&mut endpoint) {
            reports.describe_waits_in(identities.clone());
        }
        let (rank, size) = (endpoint.rank(), endpoint.size());
        Engine {
            has_processor: endpoint.computer().every_rank_has_a_processor,
            polls: Polls::default(),
            others: OnceCell::new(),
            generalized: OnceCell::new(),
            endpoint: RefCell::new(Some(endpoint)),
            rank,
            size,
            other_runs: OnceCell::new(),
            activities: Activities::default(),
            orphans: RefCell::default(),
            numbers: RefCell::new(ContextNumbers::new(rank, size, KEPT_CONTEXTS)),
            identities,
            next_claim: Cell::new(0),
            leaving: Cell::new(false),
            send_buffer: Rc::default(),
            call_logs: CallLogs::default(),
            synchronous: Cell::new(false),
            messages: MessageLog::new(rank),
            failed_calls: Cell::new(0),
        }
    }

    /// Sets the function that returns the connections of the endpoint to other runs.
    pub fn reach_other_runs_by(&self, other_runs: fn(&mut E) -> &mut dyn OtherRuns) {
        let _ = self.other_runs.set(other_runs);
    }

    /// Returns these connections.
    ///
    /// # Errors
    /// If the endpoint has none.
    pub fn other_runs<'e>(&self, endpoint: &'e mut E) -> contract::Result<&'e mut dyn OtherRuns> {
        let Some(other_runs) = self.other_runs.get() else {
            let (fabric, what) = ("this fabric".into(), "reach processes of other runs".into());
            return Err(contract::Error::Unsupported { fabric, what });
        };
        Ok(other_runs(endpoint))
    }

    /// Returns this process's number in the run.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes of the run.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Borrows the endpoint, if nothing else uses it.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] inside a call that uses it, as in a user's operation, and after the process has left the
    /// run.
    #[inline(always)]
    pub fn endpoint(&self) -> Result<RefMut<'_, E>> {
        let Ok(held) = self.endpoint.try_borrow_mut() else { return Err(is_in_use()) };
        if held.is_none() {
            return Err(has_left());
        }
        Ok(RefMut::map(held, |one| one.as_mut().expect("just checked")))
    }

    /// Takes the endpoint permanently, when the process leaves the run. Returns `None` if it is in use, or was taken
    /// before.
    pub fn take_endpoint(&self) -> Option<E> {
        self.endpoint.try_borrow_mut().ok()?.take()
    }

    /// Returns the number that this process proposes for a new context. If `take`, it is not proposed again.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] when all numbers are used up.
    pub(crate) fn propose_context(&self, take: bool) -> Result<u32> {
        Ok(self.numbers.borrow_mut().propose(take)?)
    }

    /// Returns the number for the next message that a matched probe finds. [`count_claim`](Engine::count_claim)
    /// advances it.
    pub(crate) fn next_claim(&self) -> u32 {
        self.next_claim.get()
    }

    pub(crate) fn count_claim(&self) {
        self.next_claim.set(self.next_claim.get().wrapping_add(1));
    }

    /// Returns the buffer for buffered sends in communicators without one of their own.
    pub fn send_buffer(&self) -> &Rc<SendBuffer> {
        &self.send_buffer
    }

    /// Returns what people are told about the contexts.
    pub(crate) fn identities(&self) -> &Identities {
        &self.identities
    }

    /// Makes standard sends wait for their receives, and blocking collectives for all members, and lets the memory of
    /// what a started operation receives as it is until a call completes it. All this may happen with any other MPI:
    /// programs that only work because this library has room for their messages then stop, and what a program does with
    /// memory of pending operations is seen.
    pub fn set_synchronous(&self, is_synchronous: bool) {
        self.synchronous.set(is_synchronous);
        if is_synchronous {
            self.messages.be_checked();
        }
    }

    /// Returns whether they do.
    #[inline(always)]
    pub fn is_synchronous(&self) -> bool {
        self.synchronous.get()
    }

    /// Records that a call has failed, and the program was told: calls of other processes may not match those of this one.
    pub fn note_failed_call(&self) {
        self.failed_calls.set(self.failed_calls.get() + 1);
    }

    /// Returns the number of such calls.
    pub(crate) fn failed_calls(&self) -> u64 {
        self.failed_calls.get()
    }

    /// Returns the record of its messages.
    #[inline(always)]
    pub fn messages(&self) -> &MessageLog {
        &self.messages
    }

    /// Records a sent message.
    #[inline(always)]
    pub(crate) fn note_sent(&self, to: Destination, signature: Signature) {
        if to.context & (2 * BETWEEN_RUNS) == 0 {
            self.messages.note_sent(to, signature);
        }
    }

    /// Records a received message.
    #[inline(always)]
    pub(crate) fn note_received(&self, envelope: &Envelope, signature: Signature) {
        if envelope.context & (2 * BETWEEN_RUNS) == 0 {
            self.messages.note_received(envelope, signature);
        }
    }

    /// Returns whether this process is about to leave the run.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.get()
    }

    /// Announces that this process leaves the run: others that wait for a message of it can never receive it.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn announce_end(&self) -> Result {
        self.endpoint()?.long_waits().map_or(Ok(()), |waits| waits.leave())?;
        self.leaving.set(true);
        Ok(())
    }
}

#[cold]
fn is_in_use() -> Error {
    Error::new(
        ErrorClass::Other,
        "another call of this process is under way: a second thread has called MPI (ask MPI_Init_thread for \
         MPI_THREAD_MULTIPLE), or a function that MPI calls has communicated",
    )
}

#[cold]
fn has_left() -> Error {
    Error::new(ErrorClass::Other, "MPI_Finalize has been called")
}

/// Returns the error of a message that does not fit its receive.
#[cold]
pub(crate) fn too_long(envelope: &Envelope, source: usize) -> Error {
    let Envelope { bytes, tag, room, .. } = envelope;
    let what = format!(
        "a message of {bytes} bytes from rank {source} with tag {tag} is too long for a buffer of {room} bytes"
    );
    Error::new(ErrorClass::Truncated, what)
}
