//! The engine for another message-passing interface that is built on it: raw memory, contexts and requests, no safety net.

mod memory;
mod teams;

use std::fs::File;
use std::os::fd::OwnedFd;

use contract::{Envelope, Error, Request, Result, Selector, Time};

use super::join::join_from_library;
use super::{Purpose, ShmEndpoint};
use crate::clock::{Calibration, Clock};
use crate::engine::Engine;
use crate::segment::{Choices, Segment, State};

impl ShmEndpoint {
    /// Joins the run if [`launch`](crate::launch) has started this process with
    /// [`any_program`](crate::LaunchOptions::any_program); `None` otherwise. Call it before other threads exist: it takes
    /// the launcher's words out of the environment.
    pub fn attach() -> Option<Result<Self>> {
        join_from_library()
    }

    /// A run of this process alone, which nobody launched.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses the memory.
    pub fn alone() -> Result<Self> {
        let failed = |error: std::io::Error| Error::System {
            what: "making a run of one rank".into(),
            reason: error.to_string(),
        };
        let choices =
            Choices { every_rank_has_a_processor: true, cross_memory_attach: false, arenas: false };
        let segment = Segment::create(1, &[], choices).map_err(failed)?;
        segment.block(0).set_process(std::process::id());
        segment.block(0).set_state(State::Alive);
        let clock = Clock::new(Calibration::without());
        // Nobody reads reports.
        let nowhere = File::options().write(true).open("/dev/null").map_err(failed)?;
        let engine = Engine::new(segment, 0);
        Ok(ShmEndpoint::new(engine, clock, None, OwnedFd::from(nowhere), Purpose::Library))
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.engine.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.engine.size()
    }

    /// The time that all ranks share.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The smallest step of [`now`](ShmEndpoint::now), in seconds.
    pub fn clock_resolution_s(&self) -> f64 {
        self.clock.quality().resolution.as_ps() as f64 * 1e-12
    }

    /// Sends, and returns when `data` may be changed.
    ///
    /// # Errors
    /// Only those that end the run.
    #[inline]
    pub fn send(&mut self, to: usize, context: u32, tag: u32, data: &[u8]) -> Result<()> {
        self.engine.send(to, context, tag, data)
    }

    /// Receives; a message that is too long is cut, which the envelope tells.
    ///
    /// # Errors
    /// Only those that end the run.
    #[inline]
    pub fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.engine.receive(selector, buffer)
    }

    /// Starts to send. If `synchronous`, the request is done only once a receive has taken the message.
    ///
    /// # Safety
    /// `bytes` bytes at `memory` stay readable and unchanged until the request is done or a call has failed.
    ///
    /// # Errors
    /// Only those that end the run.
    pub unsafe fn start_send(
        &mut self,
        to: usize,
        context: u32,
        tag: u32,
        memory: *const u8,
        bytes: usize,
        synchronous: bool,
    ) -> Result<Request> {
        // SAFETY: our caller's promise.
        unsafe { self.engine.start_send_as(to, context, tag, memory, bytes, synchronous) }
    }

    /// Sends, if the message goes into the ring to its receiver at once; false if it does not.
    ///
    /// # Safety
    /// `bytes` bytes at `memory` are readable, which is not null.
    ///
    /// # Errors
    /// Only those that end the run.
    #[inline(always)]
    pub unsafe fn send_at_once(
        &mut self,
        to: usize,
        context: u32,
        tag: u32,
        memory: *const u8,
        bytes: usize,
    ) -> Result<bool> {
        // SAFETY: our caller's promise.
        let data = unsafe { std::slice::from_raw_parts(memory, bytes) };
        self.engine.send_at_once(to, context, tag, data)
    }

    /// Starts to receive.
    ///
    /// # Safety
    /// `room` bytes at `memory` are writable and nobody else's until the request is done or a call has failed.
    ///
    /// # Errors
    /// Only those that end the run.
    #[inline(always)]
    pub unsafe fn start_receive(
        &mut self,
        selector: Selector,
        memory: *mut u8,
        room: usize,
    ) -> Result<Request> {
        // SAFETY: our caller's promise.
        unsafe { self.engine.start_receive(selector, memory, room) }
    }

    /// Whether a request has ended, as far as is known without a look at what has arrived.
    #[inline]
    pub fn is_done(&self, request: Request) -> bool {
        self.engine.is_done(request)
    }

    /// The message of a request that is done.
    #[inline]
    pub fn envelope(&self, request: Request) -> Envelope {
        self.engine.envelope_of(request)
    }

    /// Forgets a request that is done, and returns its message. The request's number is used again.
    #[inline]
    pub fn end(&mut self, request: Request) -> Envelope {
        self.engine.end(request)
    }

    /// Ends a receive that has found no message yet; false if it has found one.
    pub fn cancel_receive(&mut self, request: Request) -> bool {
        self.engine.cancel_receive(request)
    }

    /// Takes in what has arrived.
    ///
    /// # Errors
    /// Only those that end the run.
    #[inline]
    pub fn progress(&mut self) -> Result<()> {
        self.engine.look()
    }

    /// Waits until `done` says so. It is asked after every look at what has arrived, may use the engine, and must not wait
    /// itself.
    ///
    /// # Errors
    /// Only those that end the run.
    pub fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    /// Says that this rank sends no messages of its own any more and takes none: who waits for one learns that it waits in
    /// vain. What is done by all ranks together may go on.
    ///
    /// # Errors
    /// Only those that end the run.
    pub fn announce_end(&mut self) -> Result<()> {
        contract::Endpoint::leave(self)
    }

    /// Whether any rank has called [`announce_end`](ShmEndpoint::announce_end).
    #[inline]
    pub fn any_has_left(&self) -> bool {
        self.engine.any_has_left()
    }

    /// Whether a request can never end, because the ranks that it needs have left. What they sent before may have arrived
    /// since the last look.
    pub fn is_hopeless(&self, request: Request) -> bool {
        self.engine.is_hopeless(request)
    }

    /// Whether all ranks that could send what `selector` accepts have left.
    pub fn none_will_send(&self, selector: Selector) -> bool {
        self.engine.none_will_send(selector)
    }

    /// The error of a request that is hopeless, which every call returns from now on.
    pub fn give_up_on(&mut self, request: Request) -> Error {
        self.engine.give_up_on(request)
    }

    /// The oldest message that has arrived, has no receive, and that `selector` accepts.
    ///
    /// # Errors
    /// Only those that end the run.
    pub fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        self.engine.probe(selector)
    }

    /// As [`probe`](ShmEndpoint::probe), and hides the message from all receives but those for `context` and `tag`.
    ///
    /// # Errors
    /// Only those that end the run.
    pub fn claim(
        &mut self,
        selector: Selector,
        context: u32,
        tag: u32,
    ) -> Result<Option<Envelope>> {
        self.engine.claim(selector, context, tag)
    }

    /// Gives the run up: every rank's pending call fails, and the launcher names this rank and says why.
    pub fn abort(self, why: &str) {
        contract::Endpoint::finish(self, Err(Error::Program(why.into())));
    }

    /// Ends this rank's part of the run well.
    ///
    /// # Errors
    /// Only those that end the run.
    pub fn finish(mut self) -> Result<()> {
        self.engine.flush()?;
        self.end_run(Ok(()));
        Ok(())
    }
}
