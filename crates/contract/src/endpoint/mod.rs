//! What a fabric must do: the waist of the house.
//!
//! Below it are fabrics, which know memory, processes, networks and virtual time. Above it are two faces,
//! each written once: [`Rank`](crate::Rank), the safe blocking interface that benchmarks are written against
//! ([`Member`](crate::Member)), and MPI (crate `mpi`). Everything that programs have in common, whatever
//! carries their messages, is built above; everything that only a fabric can know is built below.
//!
//! It is generic on purpose, and not object safe: a face is compiled for each fabric.

mod collective;
mod context;
mod message;
pub(crate) mod other_runs;
mod remote;

pub use collective::{Apply, CollectiveCall, Combine, StartedCollective};
pub use context::{ContextOffer, ContextPlace};
use message::finish;
pub use message::{Completion, Envelope, Request, Selector};
pub use remote::RemoteMemory;

use std::ptr::NonNull;

use crate::record::FabricDescription;
use crate::{
    ClockQuality, Error, InPlace, Isolation, Priority, PriorityGranted, Readable, Result,
    SharedLine, Time, TimeSpan, Work, Writable,
};

/// One rank's end of a fabric.
///
/// Ranks are numbers of the run, 0 to `size() - 1`. A message belongs to a *context*, a private space of
/// messages: a receive matches messages of its own context only. Each context number N of the faces takes two
/// of these: 2 N for the messages of programs, and 2 N + 1 for those inside collectives.
///
/// # Matching
/// Messages between two ranks in one context match receives in the order in which both were posted, among those whose tags agree.
///
/// # Errors
/// An error of a call is for good unless its documentation says otherwise: the run cannot go on, every later call fails too, and the endpoint touches no
/// memory of requests any more. Mistakes of single operations (a message that does not fit) are not errors of calls: the envelope tells them.
///
/// # Safety
/// Whoever implements this uses the memory of a request ([`Readable`], [`Writable`]) only from its post until it is done or cancelled, and not at all
/// after a call has failed for good. Faces lend the memory of blocking calls in that belief.
#[allow(unsafe_code)]
pub unsafe trait Endpoint: RemoteMemory + other_runs::OtherRuns + Sized {
    // Identity and placement.
    /// This rank's number.
    fn rank(&self) -> usize;

    /// Returns how many ranks the run has.
    fn size(&self) -> usize;

    /// Returns the processor that this rank is bound to, if it is bound to one.
    fn processor(&self) -> Option<usize>;

    /// Returns whether every rank can run at the same time. Where not, no rank should spin for another.
    fn every_rank_has_a_processor(&self) -> bool;

    /// Returns what carries the messages, for the record of the run.
    fn describe(&self) -> FabricDescription;

    /// Returns a number for the host of a rank, where ranks of one host reach each other by a shorter way; none
    /// elsewhere.
    fn host_of(&self, _rank: usize) -> Option<usize> {
        None
    }

    /// Memory that all ranks share, for measuring the hardware, where there is any.
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        None
    }

    /// Asks for a priority among the ranks that share this rank's processor.
    fn set_priority(&mut self, _priority: Priority) -> PriorityGranted {
        PriorityGranted::Refused { why: "this fabric has no priorities".into() }
    }

    /// Switches a way to keep the operating system out of the way on or off; where that cannot be, says why.
    fn isolate(&mut self, _isolation: Isolation, _on: bool) -> std::result::Result<(), String> {
        Err("this fabric leaves that to the system".into())
    }

    /// As [`Rank::system_counts`](crate::Rank::system_counts).
    fn system_counts(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    // Time.
    /// Returns the time on the clock that all ranks share.
    fn now(&self) -> Time;

    /// Returns how far that clock can be trusted.
    fn clock(&self) -> ClockQuality;

    /// Waits until `now() >= time`.
    fn wait_until_time(&mut self, time: Time) {
        crate::wait_until(|| self.now(), time);
    }

    /// Does `body`, which is as much computing as `work` says; a simulated machine lets the time pass that it takes.
    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    // Contexts.
    /// This rank's part of a context to come. The members tell each other theirs, and open the context or withdraw.
    fn offer_context(&mut self) -> ContextOffer {
        ContextOffer::NOTHING
    }

    /// Takes an offer back of which no context will be made.
    fn withdraw_context(&mut self, _offer: ContextOffer) {}

    /// Opens context `number` (messages travel in 2 `number` and 2 `number` + 1) for `members`, ranks of the run, of
    /// which this rank is number `me`. All members call it alike, with each member's offer in the order of the members.
    fn open_context(
        &mut self,
        number: u32,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<ContextPlace>;

    /// Leaves a context, as all its members do in the end.
    fn close_context(&mut self, place: ContextPlace) -> Result<()>;

    // Messages.
    /// Starts to send `data` to rank `to`, which exists.
    fn post_send(
        &mut self,
        to: usize,
        context: u32,
        tag: u32,
        data: Readable,
        completion: Completion,
    ) -> Result<Request>;

    /// Starts to receive a message into the beginning of `room`.
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request>;

    /// The same for a message that is read once: where the fabric can, it stays in its sender's memory, and
    /// [`lent`](Endpoint::lent) tells of it.
    fn post_receive_in_place(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.post_receive(selector, room)
    }

    /// Returns whether a request is done, as far as is known without a look at what has arrived.
    fn is_done(&self, request: Request) -> bool;

    /// Returns the message of a request that is done. Of a send: this rank, the tag and the length.
    fn envelope(&self, request: Request) -> Envelope;

    /// Returns whether a request that is done ended well, where one can fail alone. A message that does not fit is no
    /// failure.
    fn outcome(&mut self, _request: Request) -> Result<()> {
        Ok(())
    }

    /// Returns the message of a receive that is done, if it stayed with its sender. To be asked before
    /// [`end`](Endpoint::end).
    fn lent(&mut self, _request: Request) -> Option<InPlace> {
        None
    }

    /// Returns the bytes of a message in place.
    ///
    /// # Panics
    /// If this endpoint has lent no such message.
    fn view(&self, _message: &InPlace) -> &[u8] {
        panic!("this fabric leaves no message in place")
    }

    /// Gives a message in place back to its sender.
    fn give_back(&mut self, _message: InPlace) -> Result<()> {
        Ok(())
    }

    /// Forgets a request that is done and returns its message. The request's number is used again.
    fn end(&mut self, request: Request) -> Envelope;

    /// Ends a receive that has found no message; false if it has found one.
    fn cancel_receive(&mut self, request: Request) -> bool;

    /// Returns the oldest message that has arrived, has no receive, and that `selector` accepts.
    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>>;

    /// As [`probe`](Endpoint::probe), and moves the message to another context and tag, where only a receive
    /// for these finds it. Returns what the message was before.
    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>>;

    // Progress.
    /// Takes in what has arrived, and sends on what is queued, without waiting.
    fn progress(&mut self) -> Result<()>;

    /// Returns whether a request is done, after one look at what has arrived.
    fn test(&mut self, request: Request) -> Result<bool> {
        if !self.is_done(request) {
            self.progress()?;
        }
        Ok(self.is_done(request))
    }

    /// For a program that looks again and again and does not wait: sleeps until something comes for this rank, but no longer
    /// than `longest`. Returns whether anything has come since the last such call; then it has not slept.
    fn sleep_a_while(&mut self, _longest: TimeSpan) -> Result<bool> {
        Ok(true)
    }

    /// Waits until one of `requests` is done: the first in the list, if several are. There is at least one.
    ///
    /// # Errors
    /// Also where none of them can ever end because the ranks that they need have ended.
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize>;

    /// Waits until `done` says so. It is asked after every look, may use the endpoint, and must not wait itself.
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()>;

    // What a fabric may do better than its face: one call instead of a post, a wait and an end.
    /// Sends, if the message leaves at once and completely; false if it does not, and then nothing has happened.
    #[inline(always)]
    fn send_at_once(
        &mut self,
        _to: usize,
        _context: u32,
        _tag: u32,
        _data: Readable,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Sends `data`; returns when it may be changed.
    #[inline]
    fn send(&mut self, to: usize, context: u32, tag: u32, data: &[u8]) -> Result<()> {
        // SAFETY: `data` is borrowed until this returns: then the request is done, or the call has failed for good.
        let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.post_send(to, context, tag, data, Completion::Local)?;
        finish(self, request).map(drop)
    }

    /// Receives into `buffer`; a message that is too long is cut, which the envelope tells.
    #[inline]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        // SAFETY: as in `send`.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_receive(selector, room)?;
        finish(self, request)
    }

    /// Does both at once.
    #[inline]
    fn exchange(
        &mut self,
        (to, context, tag): (usize, u32, u32),
        data: &[u8],
        selector: Selector,
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        // SAFETY: as in `send`; both requests are waited for.
        let (data, room) = unsafe {
            (
                Readable::new(data.as_ptr(), data.len()),
                Writable::new(buffer.as_mut_ptr(), buffer.len()),
            )
        };
        let receive = self.post_receive(selector, room)?;
        let send = self.post_send(to, context, tag, data, Completion::Local)?;
        let received = finish(self, receive);
        finish(self, send)?;
        received
    }

    /// Sends `data` `count` times, as many at once as the fabric can have under way.
    fn send_window(
        &mut self,
        to: usize,
        context: u32,
        tag: u32,
        data: &[u8],
        count: usize,
    ) -> Result<()> {
        (0..count).try_for_each(|_| self.send(to, context, tag, data))
    }

    /// Receives `count` messages into the same `buffer`, each over the one before. A message that does not
    /// fit ends it with that message's envelope.
    fn receive_window(
        &mut self,
        selector: Selector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<Option<Envelope>> {
        for _ in 0..count {
            let envelope = self.receive(selector, buffer)?;
            if envelope.is_cut() {
                return Ok(Some(envelope));
            }
        }
        Ok(None)
    }

    // Collectives.
    /// Carries out a collective of a context's members, if this fabric has something better than messages for
    /// it: `None` if not, and then nothing has happened. All members of a context get the same answer. While
    /// it waits, `idle` is called again and again; it must not wait.
    ///
    /// # Errors
    /// [`Error::MismatchedCollective`] and [`Error::UnequalCounts`] need not be for good.
    fn collective(
        &mut self,
        _place: ContextPlace,
        _call: CollectiveCall<'_>,
        _idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        None
    }

    /// Starts a collective, if this fabric has something better than messages for it: `None` if not, at all members
    /// alike. [`advance_collective`](Endpoint::advance_collective) does it all. Those of a context end in the order in
    /// which they were started, and before a later [`collective`](Endpoint::collective), whose `idle` goes on with them.
    fn start_collective(
        &mut self,
        _place: ContextPlace,
        _call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        None
    }

    /// Goes on with a collective that was started, as far as it can without waiting. Returns how it ended, once it has.
    /// `call` is the same each time, and its memory is used until then. To be called after every look at what has arrived.
    ///
    /// # Errors
    /// As for [`collective`](Endpoint::collective).
    fn advance_collective(
        &mut self,
        _place: ContextPlace,
        _started: StartedCollective,
        _call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        None
    }

    /// Announces a collective that the members make by messages, and which `mark` names, the same at all of
    /// them. Gives a number to ask [`find_mismatch`](Endpoint::find_mismatch) with; 0 where nobody compares.
    fn announce_by_messages(&mut self, _place: ContextPlace, _mark: u32) -> u32 {
        0
    }

    /// For a rank that waits for messages of the collective that was announced with `number`: why it waits in
    /// vain, if it does. Asked again and again, whenever [`is_liveness_check_due`](Endpoint::is_liveness_check_due).
    /// Whether the members' next calls are right again is up to the fabric.
    fn find_mismatch(&mut self, _place: ContextPlace, _number: u32) -> Option<Error> {
        None
    }

    /// Returns whether it is time to ask whether a wait is in vain, after so many polls that found nothing.
    fn is_liveness_check_due(&self, polls: u32) -> bool {
        polls.is_multiple_of(1024)
    }

    /// The face begins (`true`) or ends an algorithm of a collective over messages; begins nest. For fabrics
    /// on which a library's messages cost other than a program's.
    fn mark_algorithm(&mut self, _begins: bool) {}

    // Memory.
    /// Memory that every rank reads and writes directly, aligned to pages, if there is any. It may hold anything.
    fn allocate(&mut self, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Gives such memory back.
    ///
    /// # Safety
    /// `memory` came from [`allocate`](Endpoint::allocate) with as many bytes, and nobody uses it any more.
    unsafe fn release(&mut self, _memory: NonNull<u8>, _bytes: usize) {}

    // The end.
    /// Says that this rank sends no messages of its own any more and takes none. What all that have left do may go on.
    fn leave(&mut self) -> Result<()>;

    /// Returns whether a wait has to ask of each request that it waits for whether it [is
    /// hopeless](Endpoint::is_hopeless): once any rank has [left](Endpoint::leave), and while somebody wants to know
    /// what this rank waits for.
    fn any_has_left(&self) -> bool;

    /// Returns whether a request can never end, because the ranks that it needs have left. What they sent before may
    /// have arrived since the last look. A wait asks this only of what it waits for.
    fn is_hopeless(&self, request: Request) -> bool;

    /// Returns whether all ranks that could send what `selector` accepts have left.
    fn none_will_send(&self, selector: Selector) -> bool;

    /// Says that a wait of this rank may be ended by something else than messages and collectives, such as another thread
    /// of the program. From then on nobody takes it for one that cannot end.
    fn expect_other_ends(&mut self) {}

    /// Returns the error of a request that is hopeless, which every call returns from now on.
    fn give_up_on(&mut self, request: Request) -> Error;

    /// Ends this rank's part of the run: completes what is still under way, tells the others and whoever
    /// started the run of a failure, and gives the status that the process should exit with.
    fn finish(self, outcome: Result<()>) -> i32;
}
