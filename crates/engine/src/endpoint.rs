//! The endpoint of a rank over any transport.
#![allow(unsafe_code)]

use std::time::Duration;

use contract::{
    Claim, Completion, Computer, ComputerServices, ContextCollectives, ContextPlace, Destination,
    Endpoint, Envelope, FabricDescription, HostMemory, LongWaits, NetworkMemory, NewContext,
    OperatingSystem, Priority, PriorityGranted, Process, Readable, Request, Result, Selector,
    Series, Time, Writable, receive_in_turn, receive_together,
};
use hosts::{Clock, LocalClock, Placement};
use launcher::Seat;

use crate::{MessageEngine, Messages, Transport};

/// The endpoint of a rank whose messages a transport carries. Collectives are schedules of messages, and windows use
/// messages, unless the transport has one-sided operations.
pub struct TransportEndpoint<T> {
    engine: MessageEngine<T>,
    placement: Placement,
    clock: Clock,
    /// What does not change.
    description: FabricDescription,
    /// Memory for the requests of a window, kept so that no allocation falls into a measurement.
    window: Vec<Request>,
}

impl<T: Transport> TransportEndpoint<T> {
    /// Creates the endpoint of a rank that knows where the ranks are, and their clock.
    pub fn new(
        mut engine: MessageEngine<T>,
        placement: Placement,
        clock: Clock,
        description: FabricDescription,
    ) -> Self {
        engine.set_own_processor(placement.every_rank_has_a_processor);
        TransportEndpoint { engine, placement, clock, description, window: Vec::new() }
    }

    /// Creates the endpoint of a rank, which determines its clock together with the others, and its placement if that is
    /// not known.
    ///
    /// # Errors
    /// Errors of messages, after which the rank has ended its part.
    pub fn meet(
        engine: MessageEngine<T>,
        by_launcher: Option<Placement>,
        description: FabricDescription,
    ) -> Result<Process<Self>> {
        let nothing = Placement { every_rank_has_a_processor: false, hosts: 1, processor: None };
        let local = LocalClock::ONE_HOST;
        let clock = Clock::common(local, local.ns());
        let placement = by_launcher.unwrap_or(nothing);
        let mut rank = Process::new(TransportEndpoint::new(engine, placement, clock, description));
        match Self::find_placement_and_clock(&mut rank, by_launcher.is_some()) {
            Ok(()) => Ok(rank),
            Err(error) => {
                rank.finish(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn find_placement_and_clock(rank: &mut Process<Self>, is_placement_known: bool) -> Result<()> {
        if !is_placement_known {
            let placement = hosts::discover_placement(&mut rank.world())?;
            let this = rank.endpoint_mut();
            this.placement = placement;
            this.engine.set_own_processor(placement.every_rank_has_a_processor);
        }
        rank.endpoint_mut().clock = hosts::shared_clock(&mut rank.world(), None)?;
        Ok(())
    }

    /// Returns its parts: the message engine, where the ranks are, and their common clock.
    pub fn into_parts(self) -> (MessageEngine<T>, Placement, Clock) {
        (self.engine, self.placement, self.clock)
    }

    /// Returns the transport.
    pub fn transport(&self) -> &T {
        self.engine.transport()
    }

    /// Returns the messages.
    pub fn messages(&self) -> &Messages {
        self.engine.messages()
    }

    /// Returns where the ranks are.
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_at_most(limit);
    }

    /// Returns this rank's seat, if the launcher of this host has started it.
    pub fn seat(&self) -> Option<&Seat> {
        self.engine.transport().seat()
    }
}

impl<T: Transport> ComputerServices for TransportEndpoint<T> {
    fn host_of(&self, rank: usize) -> Option<usize> {
        self.transport().host_of(rank)
    }

    fn set_priority(&self, priority: Priority) -> PriorityGranted {
        match self.seat() {
            Some(seat) => seat.set_priority(priority),
            None => PriorityGranted::Refused {
                why: "ranks have priorities only where one host starts them all".into(),
            },
        }
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }
}

// SAFETY: a transport uses the memory of a transfer only while the transfer is in the table and not done. Once a call has
// failed for good, every later one returns that error before anything is read or written.
unsafe impl<T: Transport> Endpoint for TransportEndpoint<T> {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    fn computer(&self) -> Computer<'_> {
        self.placement.computer(&self.clock, self)
    }

    fn describe(&self) -> FabricDescription {
        let mut description = self.description.clone();
        let binding = match self.placement.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
            None => "not bound to one processor".into(),
        };
        let waiting = match self.engine.has_own_processor() {
            true => "polls for 200 us, then sleeps",
            false => "sleeps (more ranks than processors)",
        };
        let details = [
            ("hosts", self.placement.hosts.to_string()),
            ("clock", self.clock.describe()),
            ("binding", binding),
            ("waiting", waiting.into()),
        ];
        let details = details.into_iter().map(|(name, value)| (name.into(), value));
        description.details.extend(details);
        description
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        self.engine.open_context(context.number, context.members);
        Ok(ContextPlace(context.number))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.engine.close_context(place.0);
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

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        self.engine.probe(&selector, claim)
    }

    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.engine.progress(wanted)
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        MessageEngine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        self.engine.send(to, data)
    }

    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.engine.receive(selector, buffer)
    }

    fn exchange(
        &mut self,
        send: (Destination, &[u8]),
        receive: (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        self.engine.exchange(send, receive)
    }

    // Windows use messages or one-sided operations.
    fn host_memory(&self) -> Option<HostMemory<'_>> {
        let (arenas, host) = (self.seat()?, self.transport().host());
        Some(HostMemory { arenas, host, is_for_windows: false, copies: None })
    }

    fn network_memory(&mut self) -> Option<NetworkMemory<'_>> {
        let has_access = self.transport().access().is_some();
        has_access.then_some(NetworkMemory::OneSided(&mut self.engine))
    }

    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        Some(&mut self.engine)
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(&mut self.engine)
    }

    fn repeat(&mut self, series: Series<'_>, count: usize) -> Result<Option<Envelope>> {
        match series {
            Series::Send(to, data) => self.engine.send_window(to, data, count).map(|()| None),
            Series::Receive(selector, buffer) if T::POSTS_WINDOWS => {
                let mut requests = std::mem::take(&mut self.window);
                let cut = receive_together(self, &mut requests, (selector, buffer), count)?;
                self.window = requests;
                Ok(cut)
            }
            Series::Receive(selector, buffer) => receive_in_turn(self, selector, buffer, count),
        }
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        self.engine.finish(outcome)
    }
}
