//! The requirements on a fabric: the narrow interface between fabrics and programs.
//!
//! Below it are fabrics; above it are two faces, which have the common part of programs: `Rank` (crate `contract`), and
//! MPI (crate `mpi`). The trait is not object safe on purpose: a face is compiled for each fabric.

mod collective;
mod computer;
mod context;
mod long_wait;
mod message;
mod one_sided;
mod other_runs;
mod remote;

pub use collective::{
    Apply, Boards, CollectiveCall, Combine, ContextCollectives, StartedCollective, boards_of,
};
pub use computer::{Computer, ComputerServices, NoServices, SimulatedTime, wait_until_time};
pub use context::{ContextOffer, ContextPlace, NewContext};
pub use long_wait::{
    LongWaits, OtherEnds, REPORT_INTERVAL, RememberedCall, WaitPlace, WaitReports, give_up_on,
    wait_reports,
};
use message::finish;
pub use message::{
    Claim, Completion, Destination, Envelope, Request, Selector, Series, end_together,
    receive_in_turn, receive_together,
};
pub use one_sided::{
    AtomicElement, AtomicElements, AtomicOperation, OneSided, OneSidedOperation, RemotePlace,
};
pub use other_runs::{BETWEEN_RUNS, MEETING_CONTEXT, OpenedBetweenRuns, OtherRuns, ProcessName};
pub use remote::{
    AccessKind, Agent, AgentAnswer, Agents, Arenas, HostMemory, InPlaceReceives, MemoryCopies,
    NetworkMemory, RemoteAccess, RemoteAddress, allocate_for_windows,
};

use crate::{FabricDescription, Readable, Result, Time, Writable};

/// One rank's endpoint of a fabric.
///
/// Ranks are numbers of the run, 0 to `size() - 1`. A receive matches messages of its own *context* only. Each context
/// number N of the faces takes two of these: 2 N for messages of programs, and 2 N + 1 for those inside collectives.
///
/// # Matching
/// Messages between two ranks in one context match receives with agreeing tags in the order in which both were posted.
///
/// # Errors
/// An error of a call is permanent unless its documentation says otherwise: the run cannot continue, every later call
/// fails too, and the endpoint no longer accesses the memory of requests. A request that fails alone does so in the call
/// that finds it done. Mistakes of single operations, such as a message that does not fit, are not errors of calls; the
/// envelope reports them.
///
/// # Capabilities
/// What only some fabrics have is an object that the endpoint returns: of simulated time, of memory of other ranks, of
/// messages in place, of the collectives of contexts, and of long waits. The methods with a default body are for fabrics
/// that make the same call in a better way.
///
/// # Safety
/// An implementation uses the memory of a request ([`Readable`], [`Writable`]) only from its post until it is done or
/// cancelled, and never after a call has failed permanently. Faces lend the memory of blocking calls on that promise.
#[allow(unsafe_code)]
pub unsafe trait Endpoint: Sized {
    // The rank.
    /// Returns this rank's number.
    fn rank(&self) -> usize;

    /// Returns the number of ranks of the run.
    fn size(&self) -> usize;

    /// Returns this rank's computer.
    fn computer(&self) -> Computer<'_>;

    /// Returns the description of the fabric for the record of the run.
    fn describe(&self) -> FabricDescription;

    // Time.
    /// Returns the time on the clock that all ranks share.
    fn now(&self) -> Time;

    /// Returns the time of the simulated machine, if this fabric is one. On a real machine time passes by itself.
    fn simulated_time(&mut self) -> Option<&mut dyn SimulatedTime> {
        None
    }

    // Contexts.
    /// Opens a context, whose messages use 2 `number` and 2 `number` + 1. All members make the same call.
    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace>;

    /// Leaves a context. Every member must call this at the end.
    fn close_context(&mut self, place: ContextPlace) -> Result<()>;

    // Messages.
    /// Starts to send `data` to a rank, which must exist. `until` is the condition under which the request is done.
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request>;

    /// Starts to receive a message into the beginning of `room`.
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request>;

    /// Returns whether a request is known to be done. Makes no progress.
    fn is_done(&self, request: Request) -> bool;

    /// Returns the envelope of a request that is done. For a send it contains this rank, the tag and the length.
    fn envelope(&self, request: Request) -> Envelope;

    /// Frees a request that is done and returns its envelope. The request's number is reused.
    fn end(&mut self, request: Request) -> Envelope;

    /// Cancels a posted receive. Returns false if it has already matched a message.
    fn cancel_receive(&mut self, request: Request) -> bool;

    /// Returns the oldest unexpected message that `selector` accepts. If it is claimed, it moves to another context and
    /// tag; the envelope is the one that it had before.
    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>>;

    // Progress.
    /// Makes progress without waiting: receives arrived messages, and sends queued ones. If the caller tests a request, that
    /// is `wanted`: then nothing else need progress.
    fn progress(&mut self, wanted: Option<Request>) -> Result<()>;

    /// Waits until one of `requests` is done, and returns the lowest index of those. The list must not be empty. Also fails
    /// if none of them can ever complete because the ranks that they need have ended.
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize>;

    /// Waits until `done` returns true. It is called after every poll, may use the endpoint, and must not wait.
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()>;

    // Operations that a fabric may implement better than its face: one call instead of a post, a wait and an end.
    /// Sends if the whole message leaves at once. Otherwise returns false and has no effect.
    #[inline(always)]
    fn send_at_once(&mut self, _to: Destination, _data: Readable) -> Result<bool> {
        Ok(false)
    }

    /// Sends `data`. Returns when it may be changed.
    #[inline]
    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        // SAFETY: `data` is borrowed until this returns: then the request is done, or the call has failed permanently.
        let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.post_send(to, data, Completion::Local)?;
        finish(self, request).map(drop)
    }

    /// Receives into `buffer`. A message that is too long is truncated, and its envelope reports that.
    #[inline]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        // SAFETY: as in `send`.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_receive(selector, room)?;
        finish(self, request)
    }

    /// Sends and receives at the same time.
    #[inline]
    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        // SAFETY: as in `send`; both requests are awaited.
        let (data, room) = unsafe {
            (
                Readable::new(data.as_ptr(), data.len()),
                Writable::new(buffer.as_mut_ptr(), buffer.len()),
            )
        };
        let receive = self.post_receive(selector, room)?;
        let send = self.post_send(to, data, Completion::Local)?;
        let received = finish(self, receive);
        finish(self, send)?;
        received
    }

    /// Sends or receives `count` messages of a series, as many at once as the fabric can have under way. Ends early with
    /// the envelope of one that does not fit.
    fn repeat(&mut self, series: Series<'_>, count: usize) -> Result<Option<Envelope>> {
        match series {
            Series::Send(to, data) => {
                (0..count).try_for_each(|_| self.send(to, data)).map(|()| None)
            }
            Series::Receive(selector, buffer) => receive_in_turn(self, selector, buffer, count),
        }
    }

    // Collectives.
    /// Executes a collective of a context's members if this fabric has something better than messages for it. Otherwise
    /// returns `None` and has no effect. All members of a context get the same answer. While it waits it calls `idle`
    /// repeatedly, which must not wait.
    ///
    /// # Errors
    /// [`Error::MismatchedCollective`] and [`Error::UnequalCounts`] need not be permanent.
    fn collective(
        &mut self,
        _place: ContextPlace,
        _call: CollectiveCall<'_>,
        _idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        None
    }

    /// Returns what this fabric does for the collectives of a context beyond [`collective`](Endpoint::collective), if it
    /// does anything.
    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        None
    }

    // Memory of other ranks.
    /// Returns the memory that the ranks of this host share, if they do.
    fn host_memory(&self) -> Option<HostMemory<'_>> {
        None
    }

    /// Returns the accesses to memory of other ranks that the network executes by itself, if it does.
    fn network_memory(&mut self) -> Option<NetworkMemory<'_>> {
        None
    }

    /// Returns the receives of messages that stay in their senders' memory, if this fabric has them.
    fn in_place(&mut self) -> Option<&mut dyn InPlaceReceives> {
        None
    }

    // The end.
    /// Returns what this fabric knows of waits that have become long, and of ranks that have left, if it knows anything.
    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        None
    }

    /// Ends this rank's part of the run: completes what is still under way, reports a failure to the other ranks and to
    /// the process that started the run, and returns the status with which the process should exit.
    fn finish(self, outcome: Result<()>) -> i32;
}
