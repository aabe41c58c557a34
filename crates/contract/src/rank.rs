//! The contract: what a rank of a parallel program sees of its machine.

use collectives::HostMap;

use crate::record::FabricDescription;
use crate::{
    Buffer, ClockQuality, Context, Error, InPlace, Isolation, Priority, PriorityGranted,
    RankWindow, Reduction, Result, SharedLine, Source, Status, Tag, TagSelector, Time, WindowCall,
    Work, collective,
};

/// An operation that was posted and not yet completed. Completing it gives back its buffer.
///
/// Dropping it gives the buffer up for lost; the operation itself still takes place.
#[must_use = "a posted operation holds its buffer until it is waited for"]
#[derive(Debug, PartialEq, Eq)]
pub struct Posted(u64);

/// A posted operation that has ended.
#[derive(Debug)]
pub struct Completed {
    /// The buffer that was posted, at its posted length; a received message fills its first `status.bytes` bytes.
    pub buffer: Buffer,
    /// The message: for a send, this rank's own number, the tag and the length.
    pub status: Status,
    /// Set if the message is not in the buffer but still where its sender has it ([`Rank::post_receive_in_place`]).
    pub in_place: Option<InPlace>,
}

/// What a test of a posted operation found.
#[derive(Debug)]
pub enum Progress {
    /// Not yet ended.
    Pending(Posted),
    /// Ended.
    Done(Completed),
}

/// One of the P processes of a parallel program, and all that it may ask of the machine.
///
/// Object safe on purpose: a benchmark is compiled once for all fabrics, and one indirect call costs about a
/// nanosecond. On a simulated machine every call may suspend the caller and let virtual time pass; rank code reads time
/// nowhere else.
///
/// # Matching
/// Messages between two ranks are matched in the order in which they were sent and received, among those whose tags
/// agree. A receive posted first matches first. A rank may send to itself; a blocking send to itself must find its
/// receive posted, or be short enough to be buffered (every fabric buffers at least [`EAGER_BYTES`]).
///
/// # Errors
/// Every call returns [`Error::RankDied`] or [`Error::Aborted`] when the run cannot go on. A rank that meets an
/// error returns it from its program; the fabric then ends the run.
///
/// # Collectives
/// All ranks must call the same collectives in the same order with the same root, reduction and lengths. Lengths that
/// contradict each other within a call are refused at once; lengths that differ between ranks give an error on at least
/// one rank, at the latest in the next barrier, which ends the run, so nobody hangs. Other collectives, roots and
/// reductions do so wherever the ranks meet at all; [`collective`] says what cannot be found from messages alone. The
/// provided methods are its algorithms over point-to-point calls; a fabric replaces one where it has something better.
pub trait Rank {
    /// This rank's number, 0 to `size() - 1`.
    fn rank(&self) -> usize;

    /// Returns how many ranks the program has.
    fn size(&self) -> usize;

    /// Returns the time on the clock that all ranks share, as well as the machine allows.
    fn now(&self) -> Time;

    /// Returns how far that clock can be trusted.
    fn clock(&self) -> ClockQuality;

    /// Waits until `now() >= time`; on a real machine as exactly as it can.
    fn wait_until(&mut self, time: Time);

    /// Does `body`, which is as much computing as `work` says.
    ///
    /// A real machine runs `body`. A simulated one lets the time pass that it takes for `work`, and runs
    /// `body` only when results are checked.
    fn compute(&mut self, work: Work, body: &mut dyn FnMut());

    /// Returns whether every rank can run at the same time. Where not, no rank should spin for another.
    fn every_rank_has_a_processor(&self) -> bool;

    /// Returns the processor that this rank is bound to, if it is bound to one.
    fn processor(&self) -> Option<usize>;

    /// Asks for a priority among the ranks that share this rank's processor, from now on.
    ///
    /// For programs that are measured with and without priorities; a fabric that has none says so, and nothing changes.
    fn set_priority(&mut self, _priority: Priority) -> PriorityGranted {
        PriorityGranted::Refused { why: "this fabric has no priorities".into() }
    }

    /// Switches a way to keep the operating system out of the way on or off; where that cannot be, says why,
    /// and nothing changes.
    fn isolate(&mut self, _isolation: Isolation, _on: bool) -> std::result::Result<(), String> {
        Err("this fabric leaves that to the system".into())
    }

    /// Returns what the system has counted so far of what takes this rank's processor from it: interrupts by their
    /// source, switches to other programs, and more, each with its name; nothing where that cannot be known. Reading
    /// takes tens of microseconds.
    fn system_counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Returns what carries the messages, for the record of the run.
    fn describe(&self) -> FabricDescription;

    /// Memory that all ranks share, where the machine has it.
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        None
    }

    /// Divides the ranks: those that give the same `colour` become a [`Context`] of their own, in the order
    /// of their keys, and of their ranks where keys are equal. A rank that gives no colour gets none. All
    /// ranks call it, as a collective.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the fabric has no contexts.
    fn split(&mut self, _colour: Option<u32>, _key: i64) -> Result<Option<Context>> {
        let fabric = self.describe().name;
        Err(Error::Unsupported { fabric, what: "make contexts".into() })
    }

    /// This process as a rank of a context that it has made: numbers of ranks, messages and collectives are
    /// the context's. Operations that were posted within a context are completed within it.
    ///
    /// # Panics
    /// If the fabric has no contexts, so that nobody can have made one.
    fn within<'a>(&'a mut self, _context: &Context) -> Box<dyn Rank + 'a> {
        unreachable!("a fabric without contexts was given one")
    }

    /// Makes this a rank of another context, which it has made, until it is made one of the old context again. Returns the
    /// old one. The same as [`within`](Rank::within), without an allocation.
    ///
    /// # Panics
    /// If the fabric has no contexts, so that nobody can have made one.
    fn enter(&mut self, _context: Context) -> Context {
        unreachable!("a fabric without contexts was given one")
    }

    /// Gives up a context, as all its members do in the end.
    fn close(&mut self, _context: Context) -> Result<()> {
        Ok(())
    }

    /// Opens a window on `bytes` bytes of this rank, zeros at first, which all ranks read, write and update without its
    /// taking part, as far as the fabric allows. Each rank chooses its own length. All ranks call it, as a collective.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the fabric has no contexts.
    fn open_window(&mut self, _bytes: usize) -> Result<RankWindow> {
        let fabric = self.describe().name;
        Err(Error::Unsupported { fabric, what: "open windows".into() })
    }

    /// Carries out a call of a window, all of which are methods of [`RankWindow`].
    ///
    /// # Panics
    /// If the fabric has no windows, so that nobody can have opened one.
    fn call_window(&mut self, _window: &mut RankWindow, _call: WindowCall<'_>) -> Result<()> {
        unreachable!("a fabric without windows was given one")
    }

    /// Closes a window, as all its ranks do in the end: a collective. Waits until nobody uses it any more.
    fn close_window(&mut self, _window: RankWindow) -> Result<()> {
        Ok(())
    }

    /// Sends `data` to rank `to`; returns when `data` may be changed again.
    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()>;

    /// Receives a matching message into the beginning of `buffer`.
    ///
    /// # Errors
    /// [`Error::Truncated`] where the message is longer than `buffer`.
    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status>;

    /// Sends and receives at once: neither waits for the other.
    fn send_receive(
        &mut self,
        to: usize,
        send_tag: Tag,
        data: &[u8],
        from: Source,
        receive_tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status>;

    /// Starts to send the whole of `buffer` to rank `to`.
    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted>;

    /// Starts to receive a matching message into `buffer`.
    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted>;

    /// As [`post_receive`](Rank::post_receive), for a message that is read once: where the fabric can, the
    /// message stays in its sender's memory, so that whoever reads it ([`view`](Rank::view)) does all the
    /// moving there is. The send ends only when the message is [released](Rank::release). Elsewhere it comes
    /// into `buffer`, as ever.
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

    /// Is done with a received message: its buffer is free again, and if it was received in place, so is its sender's.
    fn release(&mut self, message: Completed) -> Result<Buffer> {
        Ok(message.buffer)
    }

    /// Waits for a posted operation to end. If it ends with an error, its buffer is lost.
    fn wait(&mut self, posted: Posted) -> Result<Completed>;

    /// Asks whether a posted operation has ended, without waiting. On a simulated machine asking takes time.
    fn test(&mut self, posted: Posted) -> Result<Progress>;

    /// Waits until one of `posted` ends; takes it out and gives the place it stood at, with its completion. One that
    /// ends with an error is taken out too.
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

    /// Asks whether a matching message has arrived, without receiving it. On a simulated machine asking takes time.
    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>>;

    /// Sends `data` `count` times to rank `to`, as many at once as the fabric can have under way.
    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        for _ in 0..count {
            self.send(to, tag, data)?;
        }
        Ok(())
    }

    /// Receives `count` messages into the same `buffer`, each over the one before, with all receives posted at the
    /// beginning where the fabric gains by it. What `buffer` holds at the end is one of the messages.
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

    /// An algorithm of a collective over messages begins (`true`) or ends. For fabrics on which a library's messages cost other
    /// than a program's.
    fn mark_algorithm(&mut self, _begins: bool) {}

    /// Returns which ranks share a host, where the fabric knows and goes a shorter way between them.
    fn hosts(&self) -> Option<&HostMap> {
        None
    }

    /// Waits until every rank has come here.
    fn barrier(&mut self) -> Result<()> {
        collective::barrier(self)
    }

    /// Copies `buffer` of rank `root` into `buffer` of every rank.
    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        collective::broadcast(self, None, root, buffer)
    }

    /// Gives block r of `send` at rank `root` to rank r's `receive`. `send` holds `size()` blocks of the length of
    /// `receive` at the root, and is ignored (so may be empty) elsewhere.
    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::scatter(self, None, root, send, receive)
    }

    /// Puts `send` of rank r into block r of `receive` at rank `root`. `receive` holds `size()` blocks of the length of
    /// `send` at the root, and is ignored (so may be empty) elsewhere.
    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::gather(self, None, root, send, receive)
    }

    /// Puts `send` of rank r into block r of `receive` of every rank; `receive` holds `size()` blocks.
    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::allgather(self, None, send, receive)
    }

    /// Copies block r of rank r's `buffer` into block r of every rank's; `buffer` holds `size()` blocks.
    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        collective::allgather_in_place(self, buffer)
    }

    /// Combines `send` of all ranks into `receive` at rank `root`, where it has the length of `send`; elsewhere
    /// `receive` is ignored (so may be empty).
    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        collective::reduce(self, None, root, reduction, send, receive)
    }

    /// Combines `send` of all ranks into `receive` of all ranks: the same bits on each.
    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::allreduce(self, None, reduction, send, receive)
    }

    /// Gives block r of `send` of rank s to rank r, as block s of its `receive`. Both hold `size()` blocks.
    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        collective::all_to_all(self, None, send, receive)
    }
}

/// Messages up to this many bytes are buffered by every fabric: a blocking send of one returns even if no receive is
/// posted yet (as long as not too many are under way). Longer ones may wait for their receive.
pub const EAGER_BYTES: usize = 1024;

impl Posted {
    /// Returns the handle with this number; a fabric counts its posted operations from zero up.
    pub const fn new(number: u64) -> Self {
        Posted(number)
    }

    /// Returns the number the fabric gave.
    pub const fn number(&self) -> u64 {
        self.0
    }
}

/// Refuses a rank that the run does not have.
pub fn check_rank(rank: usize, size: usize) -> Result<()> {
    if rank < size { Ok(()) } else { Err(Error::InvalidRank { rank, size }) }
}
