//! The contract: the machine from the view of a rank of a parallel program.

use collectives::HostMap;

use crate::FabricDescription;
use crate::{
    Buffer, ClockQuality, Context, Error, InPlace, Isolation, OperatingSystem, Priority,
    PriorityGranted, RankWindow, Reduction, Result, SharedLine, Source, Status, Tag, TagSelector,
    Time, WindowCall, Work, collective,
};

/// A posted operation that was not yet completed. Its completion returns the buffer.
///
/// Dropping it loses the buffer; the operation itself still takes place.
#[must_use = "a posted operation holds its buffer until it is waited for"]
#[derive(Debug, PartialEq, Eq)]
pub struct Posted(u64);

/// A posted operation that has ended.
#[derive(Debug)]
pub struct Completed {
    /// The posted buffer with its posted length. A received message fills its first `status.bytes` bytes.
    pub buffer: Buffer,
    /// Status of the message. For a send it contains this rank's own number, the tag and the length.
    pub status: Status,
    /// Set if the message is not in the buffer but still in its sender's memory ([`Rank::post_receive_in_place`]).
    pub in_place: Option<InPlace>,
}

/// The result of a test of a posted operation.
#[derive(Debug)]
pub enum Progress {
    /// The operation has not ended.
    Pending(Posted),
    /// The operation has ended.
    Done(Completed),
}

/// One of the P processes of a parallel program, with all operations of the machine.
///
/// The trait is object safe on purpose: a benchmark is compiled once for all fabrics, and one indirect call costs about
/// a nanosecond. On a simulated machine every call may suspend the caller and let virtual time pass; programs have no
/// other source of time.
///
/// # Matching
/// Messages between two ranks match in the order in which they were sent and received, among those with equal tags. A
/// receive posted first matches first. A rank may send to itself. A blocking send to itself requires a posted receive,
/// or a message short enough to be buffered (every fabric buffers at least [`EAGER_BYTES`]).
///
/// # Errors
/// Every call returns [`Error::RankDied`] or [`Error::Aborted`] if the run cannot continue. A rank that gets an error
/// returns it from its program; the fabric then ends the run.
///
/// # Collectives
/// All ranks must call the same collectives in the same order with the same root, reduction and lengths. Contradictory
/// lengths within a call are refused at once. Lengths that differ between ranks cause an error on at least one rank, at
/// the latest in the next barrier, which ends the run, so no rank hangs. Different collectives, roots and reductions do
/// so if the ranks exchange messages at all; [`collective`] lists the mistakes that cannot be detected from messages
/// alone. The provided methods are its algorithms over point-to-point calls; a fabric replaces those for which it has
/// something better.
pub trait Rank {
    /// Returns this rank's number, 0 to `size() - 1`.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Returns the time on the clock that all ranks share, as accurately as the machine allows.
    fn now(&self) -> Time;

    /// Returns the accuracy of that clock.
    fn clock(&self) -> ClockQuality;

    /// Waits until `now() >= time`, as precisely as the machine allows.
    fn wait_until(&mut self, time: Time);

    /// Lets the time pass in which polls of this rank (reads of the clock, tests) would find nothing, at most until
    /// `time`. Returns whether any has passed. A program that polls calls it between polls, so that a simulated machine need not
    /// simulate each. There it returns before a pause of the processor begins, so that polls notice the pause. A real
    /// machine returns false at once.
    fn skip_idle_polls(&mut self, _time: Time) -> Result<bool> {
        Ok(false)
    }

    /// Runs `body`, whose computation is described by `work`.
    ///
    /// A real machine runs `body`. A simulated one lets as much time pass as `work` takes, and runs `body` only if it
    /// has a result and results are checked.
    fn compute(&mut self, work: Work, body: &mut dyn FnMut());

    /// Returns whether every rank can run at the same time. If not, no rank should spin for another.
    fn every_rank_has_a_processor(&self) -> bool;

    /// Returns the processor that this rank is bound to, if it is bound to exactly one.
    fn processor(&self) -> Option<usize>;

    /// Requests a priority among the ranks that share this rank's processor, from now on.
    ///
    /// For programs that are measured with and without priorities. A fabric without priorities refuses, and nothing
    /// changes.
    fn set_priority(&mut self, _priority: Priority) -> PriorityGranted {
        PriorityGranted::Refused { why: "this fabric has no priorities".into() }
    }

    /// Switches one kind of isolation from the operating system on or off. If that is impossible, returns the reason,
    /// and nothing changes.
    fn isolate(&mut self, _isolation: Isolation, _on: bool) -> std::result::Result<(), String> {
        Err("this fabric leaves that to the system".into())
    }

    /// Returns the operating system of this rank, for measurements of it; `None` on a simulated machine and on fabrics
    /// that do not provide it.
    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        None
    }

    /// Returns the description of the fabric for the record of the run.
    fn describe(&self) -> FabricDescription;

    /// Returns memory that all ranks share, if the machine has it.
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        None
    }

    /// Divides the ranks: those with the same `colour` form a [`Context`] of their own, in the order of their keys, and
    /// of their ranks if keys are equal. A rank without a colour gets no context. All ranks must call it, as a
    /// collective.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the fabric has no contexts.
    fn split(&mut self, _colour: Option<u32>, _key: i64) -> Result<Option<Context>> {
        let fabric = self.describe().name;
        Err(Error::Unsupported { fabric, what: "make contexts".into() })
    }

    /// Returns this process as a rank of a context that it has created: numbers of ranks, messages and collectives are
    /// the context's. Operations posted within a context must be completed within it.
    ///
    /// # Panics
    /// If the fabric has no contexts, so that none can have been created.
    fn within<'a>(&'a mut self, _context: &Context) -> Box<dyn Rank + 'a> {
        unreachable!("a fabric without contexts was given one")
    }

    /// Makes this a rank of another context, which it has created, until it re-enters the old one. Returns the old
    /// context. Equivalent to [`within`](Rank::within), without an allocation.
    ///
    /// # Panics
    /// If the fabric has no contexts, so that none can have been created.
    fn enter(&mut self, _context: Context) -> Context {
        unreachable!("a fabric without contexts was given one")
    }

    /// Closes a context. Every member must call this at the end.
    fn close(&mut self, _context: Context) -> Result<()> {
        Ok(())
    }

    /// Opens a window on `bytes` bytes of this rank, initially zeros, which all ranks read, write and update without
    /// its participation, as far as the fabric allows. Each rank chooses its own length. All ranks must call it, as a
    /// collective.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the fabric has no contexts.
    fn open_window(&mut self, _bytes: usize) -> Result<RankWindow> {
        let fabric = self.describe().name;
        Err(Error::Unsupported { fabric, what: "open windows".into() })
    }

    /// Executes a call of a window. The methods of [`RankWindow`] make all such calls.
    ///
    /// # Panics
    /// If the fabric has no windows, so that none can have been opened.
    fn call_window(&mut self, _window: &mut RankWindow, _call: WindowCall<'_>) -> Result<()> {
        unreachable!("a fabric without windows was given one")
    }

    /// Closes a window: a collective of all its ranks. Waits until no rank uses it any more.
    fn close_window(&mut self, _window: RankWindow) -> Result<()> {
        Ok(())
    }

    /// Sends `data` to rank `to`, and returns when `data` may be changed again.
    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()>;

    /// Receives a matching message into the beginning of `buffer`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the message is longer than `buffer`.
    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status>;

    /// Sends and receives at the same time. The arguments are those of [`send`](Rank::send) and
    /// [`receive`](Rank::receive).
    fn send_receive(
        &mut self,
        send: (usize, Tag, &[u8]),
        receive: (Source, TagSelector, &mut [u8]),
    ) -> Result<Status>;

    /// Starts to send the whole of `buffer` to rank `to`.
    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted>;

    /// Starts to receive a matching message into `buffer`.
    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted>;

    /// As [`post_receive`](Rank::post_receive), for a message that is read once. If the fabric can, the message stays
    /// in its sender's memory, so that reading it ([`view`](Rank::view)) is the only data movement. The send ends only
    /// when the message is [released](Rank::release). Otherwise the message arrives in `buffer` as usual.
    fn post_receive_in_place(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: Buffer,
    ) -> Result<Posted> {
        self.post_receive(from, tag, buffer)
    }

    /// Returns the bytes of a received message, wherever they are.
    ///
    /// # Panics
    /// If the message was not received by this rank.
    fn view<'a>(&'a self, message: &'a Completed) -> &'a [u8] {
        &message.buffer[..message.status.bytes]
    }

    /// Releases a received message: its buffer is free again, and if it was received in place, so is its sender's.
    fn release(&mut self, message: Completed) -> Result<Buffer> {
        Ok(message.buffer)
    }

    /// Waits until a posted operation ends. After an error its buffer is lost.
    fn wait(&mut self, posted: Posted) -> Result<Completed>;

    /// Tests whether a posted operation has ended, without waiting. On a simulated machine a test takes time.
    fn test(&mut self, posted: Posted) -> Result<Progress>;

    /// Waits until one of `posted` ends. Removes it, and returns its index and its completion. One that ends with an
    /// error is removed too.
    ///
    /// # Panics
    /// If `posted` is empty.
    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        loop {
            for index in 0..posted.len() {
                let candidate = std::mem::replace(&mut posted[index], Posted(u64::MAX));
                match self.test(candidate) {
                    Ok(Progress::Pending(same)) => posted[index] = same,
                    Ok(Progress::Done(completed)) => {
                        let _placeholder = posted.remove(index);
                        return Ok((index, completed));
                    }
                    Err(error) => {
                        let _placeholder = posted.remove(index);
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Tests whether a matching message has arrived, without receiving it. On a simulated machine a test takes time.
    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>>;

    /// Sends `data` `count` times to rank `to`, with as many sends in progress as the fabric allows.
    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        for _ in 0..count {
            self.send(to, tag, data)?;
        }
        Ok(())
    }

    /// Receives `count` messages into the same `buffer`. All receives are posted at the beginning if that is faster on
    /// the fabric. In the end `buffer` contains one of the messages.
    fn receive_window(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<()> {
        for _ in 0..count {
            self.receive(from, tag, buffer)?;
        }
        Ok(())
    }

    /// Marks the beginning (`true`) or the end of a collective's algorithm over messages. For fabrics on which messages
    /// of a library have another cost than those of a program.
    fn mark_algorithm(&mut self, _begins: bool) {}

    /// Returns the ranks that share a host, if the fabric provides them and has a faster path between them.
    fn hosts(&self) -> Option<&HostMap> {
        None
    }

    /// Waits until every rank has reached the barrier.
    fn barrier(&mut self) -> Result<()> {
        collective::barrier(self, None)
    }

    /// Copies `buffer` of rank `root` into `buffer` of every rank.
    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        collective::broadcast(self, None, root, buffer)
    }

    /// Copies block r of `send` at rank `root` to rank r's `receive`. At the root `send` has `size()` blocks of the
    /// length of `receive`; elsewhere it is ignored and may be empty.
    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::scatter(self, None, root, send, receive)
    }

    /// Copies `send` of rank r to block r of `receive` at rank `root`. At the root `receive` has `size()` blocks of the
    /// length of `send`; elsewhere it is ignored and may be empty.
    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::gather(self, None, root, send, receive)
    }

    /// Copies `send` of rank r to block r of `receive` at every rank. `receive` has `size()` blocks.
    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::allgather(self, None, send, receive)
    }

    /// Copies block r of rank r's `buffer` to block r of every rank's `buffer`, which has `size()` blocks.
    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        collective::allgather_in_place(self, buffer)
    }

    /// Combines `send` of all ranks into `receive` at rank `root`, where it has the length of `send`. Elsewhere
    /// `receive` is ignored and may be empty.
    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        collective::reduce(self, None, root, reduction, send, receive)
    }

    /// Combines `send` of all ranks into `receive` of all ranks, with the same bits on each.
    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::allreduce(self, None, reduction, send, receive)
    }

    /// Combines block r of `send` of all ranks into `receive` at rank r. `send` has `size()` blocks.
    fn reduce_scatter(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        collective::reduce_scatter(self, None, reduction, send, receive)
    }

    /// Combines `send` of ranks 0 to r into `receive` at each rank r.
    fn scan(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::scan(self, None, false, reduction, send, receive)
    }

    /// Combines `send` of the ranks before r into `receive` at each rank r. `receive` of rank 0 is not changed.
    fn exclusive_scan(
        &mut self,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        collective::scan(self, None, true, reduction, send, receive)
    }

    /// Copies block r of rank s's `send` to block s of rank r's `receive`. Both have `size()` blocks.
    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::all_to_all(self, None, send, receive)
    }
}

/// Length up to which every fabric buffers messages: a blocking send of one returns even without a posted receive
/// (unless too many are in progress). Longer ones may wait for their receive.
pub const EAGER_BYTES: usize = 1024;

impl Posted {
    /// Creates the handle with this number; a fabric numbers its posted operations from zero.
    pub const fn new(number: u64) -> Self {
        Posted(number)
    }

    /// Returns the number that the fabric assigned.
    pub const fn number(&self) -> u64 {
        self.0
    }
}

/// Fails if the run has no such rank.
pub fn check_rank(rank: usize, size: usize) -> Result<()> {
    if rank < size { Ok(()) } else { Err(Error::InvalidRank { rank, size }) }
}
