//! A rank over TCP: the [`Endpoint`](contract::Endpoint) over the engine.

mod composed;

use std::ptr::NonNull;
use std::time::Duration;

use contract::{
    AgreedCall, ClockQuality, Completion, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, LongWaits, NewContext, OperatingSystem, Priority, PriorityGranted, Process,
    Readable, RemoteMemory, Request, Result, Selector, Time, TimeSpan, WaitPlace, WaitReports,
    Writable, receive_together,
};
use hosts::{Clock, LocalClock, Placement};

use crate::Reporter;
use crate::transport::{CREDIT_BYTES, EAGER_MAX, Engine};

/// One rank's endpoint of a run over TCP.
///
/// Every pair of ranks has a connection of its own, which carries the messages of all contexts in sequence. A message
/// to this rank itself is copied, whatever its length, and waits for nobody unless it is synchronous.
pub struct TcpEndpoint {
    engine: Engine,
    placement: Placement,
    clock: Clock,
    address: String,
    /// Memory for the requests of a window, kept so that no allocation falls into a measurement.
    window: Vec<Request>,
}

impl TcpEndpoint {
    /// Creates the rank over `engine`, with the placement and the clock that it determines together with the others.
    pub(crate) fn meet(engine: Engine, address: String) -> Result<Process<Self>> {
        let known = engine.transport().supervision.placement();
        let local = LocalClock::ONE_HOST;
        let mut rank = Process::new(TcpEndpoint {
            engine,
            placement: known.unwrap_or(Placement {
                every_rank_has_a_processor: false,
                hosts: 1,
                processor: None,
            }),
            clock: Clock::common(local, local.ns()),
            address,
            window: Vec::new(),
        });
        match Self::find_placement_and_clock(&mut rank, known.is_some()) {
            Ok(()) => Ok(rank),
            Err(error) => {
                rank.finish(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn find_placement_and_clock(rank: &mut Process<Self>, is_placement_known: bool) -> Result<()> {
        if !is_placement_known {
            rank.endpoint_mut().placement = hosts::discover_placement(&mut rank.world())?;
        }
        let endpoint = rank.endpoint_mut();
        let spins = endpoint.placement.every_rank_has_a_processor;
        endpoint.engine.transport_mut().spins = spins;
        rank.endpoint_mut().clock = hosts::shared_clock(&mut rank.world(), None)?;
        Ok(())
    }

    /// Returns a handle that passes reports to the process that started the run, also while a program holds this rank.
    pub fn reporter(&self) -> Reporter {
        self.engine.transport().supervision.reporter()
    }
}

impl LongWaits for TcpEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        self.seat().map(|seat| seat as _)
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }
}

/// Windows use messages, except those whose memory the program itself shares among ranks of one host.
impl RemoteMemory for TcpEndpoint {
    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.seat()?.place_of(memory, bytes)
    }

    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.seat()?.allocate(bytes)
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        self.seat()?.memory_at(place, bytes)
    }
}

// SAFETY: the engine uses the memory of an operation only while the operation stands in its table and is not done: a
// write takes the bytes of sends in the queue, which leave it when they are done; a read goes into a receive that was
// matched and is not done, and a matched receive can neither be cancelled nor ended before. Once a call has failed
// for good, every later one returns that error before anything is read or written.
#[allow(unsafe_code)]
unsafe impl Endpoint for TcpEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    fn processor(&self) -> Option<usize> {
        self.placement.processor
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.placement.every_rank_has_a_processor
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }

    fn describe(&self) -> FabricDescription {
        let binding = match self.placement.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
            None => "not bound to one processor".into(),
        };
        let waiting = if self.engine.transport().spins {
            "polls for 200 us, then sleeps"
        } else {
            "sleeps (more ranks than processors)"
        };
        let details = [
            ("address", self.address.clone()),
            ("hosts", self.placement.hosts.to_string()),
            ("clock", self.clock.describe()),
            ("binding", binding),
            ("waiting", waiting.into()),
            ("eager_max_bytes", EAGER_MAX.to_string()),
            ("unexpected_max_bytes", CREDIT_BYTES.to_string()),
        ];
        FabricDescription {
            name: "tcp".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            ..FabricDescription::default()
        }
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.engine.transport_mut().supervision.set_priority(priority)
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.clock.quality()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.engine.transport_mut().open_context(context.number, context.members);
        Ok(ContextPlace(context.number))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.engine.transport_mut().close_context(place.0);
        self.engine.check()
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.engine.post_send(to, data, until)
    }

    #[inline]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room, false)
    }

    #[inline]
    fn is_done(&self, request: Request) -> bool {
        self.engine.is_done(request)
    }

    #[inline]
    fn envelope(&self, request: Request) -> Envelope {
        self.engine.envelope(request)
    }

    #[inline]
    fn end(&mut self, request: Request) -> Envelope {
        self.engine.end(request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.engine.cancel_receive(request)
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        self.engine.probe(&selector)
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        self.engine.claim(&selector, context, tag)
    }

    fn progress(&mut self) -> Result<()> {
        self.engine.poll()
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        self.engine.sleep_a_while(Duration::from_nanos(longest.as_ps() / 1000))
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        self.engine.send_window(to, data, count)
    }

    fn receive_window(
        &mut self,
        (selector, buffer): (Selector, &mut [u8]),
        count: usize,
    ) -> Result<Option<Envelope>> {
        let mut requests = std::mem::take(&mut self.window);
        let cut = receive_together(self, &mut requests, (selector, buffer), count)?;
        self.window = requests;
        Ok(cut)
    }

    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        let (messages, connections) = self.engine.parts_mut();
        connections.announce_by_messages(messages, place.0, call)
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        let (messages, connections) = self.engine.parts_mut();
        connections.find_mismatch(messages, place.0, number)
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        let (messages, connections) = self.engine.parts_mut();
        connections.have_left_compared(messages, place.0, number)
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.engine.is_liveness_check_due(polls)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        if let Some(seat) = self.seat() {
            // SAFETY: the caller promises the same, and memory comes from nowhere else.
            unsafe { seat.release(memory, bytes) };
        }
    }

    fn leave(&mut self) -> Result<()> {
        self.engine.leave()
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.engine.any_has_left()
    }

    fn is_hopeless(&self, request: Request) -> bool {
        self.engine.note_request(request);
        self.engine.is_hopeless(request)
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        self.engine.note_probe(selector);
        self.engine.none_will_send(&selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.engine.give_up_on(request)
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| end_together(&mut self.engine));
        self.engine.into_transport().close(outcome)
    }
}

/// Completes what is in progress, says goodbye, and waits for the goodbyes of all others.
pub(crate) fn end_together(engine: &mut Engine) -> Result<()> {
    engine.leave()?;
    engine.complete_sends()?;
    let (messages, connections) = engine.parts_mut();
    connections.say_goodbye(messages)?;
    engine.complete(|engine| engine.transport().is_through())
}
