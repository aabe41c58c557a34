//! The [`Endpoint`] of a rank of a cluster.
#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::time::Duration;

use contract::{
    AgreedCall, ClockQuality, CollectiveCall, Completion, ContextOffer, ContextPlace, Destination,
    Endpoint, Envelope, Error, FabricDescription, InPlace, Isolation, LongWaits, NewContext,
    OperatingSystem, Priority, PriorityGranted, Readable, RemoteAddress, RemoteMemory, Request,
    Result, Selector, SharedLine, StartedCollective, Time, TimeSpan, WaitPlace, WaitReports,
    Writable,
};
use engine::{MessageEngine, Messages, Transport};
use fabric_shm::{HostCollectives, Owner, Rings};
use fabric_tcp::Reporter;
use hosts::{Clock, Placement};
use launcher::Seat;

use crate::contexts::{Contexts, Opened};
use crate::routes::Routes;

/// The message engine of a rank.
pub(crate) type Engine = MessageEngine<Routes>;

/// One rank's endpoint of a run on several hosts.
pub struct ClusterEndpoint {
    pub(crate) engine: Engine,
    /// The collectives of contexts inside this host.
    pub(crate) collectives: HostCollectives,
    pub(crate) contexts: Contexts,
    /// Number of this host among the hosts, with which the places of its memory begin.
    pub(crate) host: u16,
    pub(crate) placement: Placement,
    pub(crate) clock: Clock,
    pub(crate) description: FabricDescription,
}

impl ClusterEndpoint {
    fn seat(&self) -> &Seat {
        self.engine.transport().rings.seat()
    }

    /// Returns the place of a context among those inside this host, if all its members are here.
    #[inline]
    fn inner_place(&self, place: ContextPlace) -> Option<ContextPlace> {
        self.contexts.get(place)?.inner
    }

    /// Returns the object that sends reports to the process that started the run, also while a program uses this rank.
    pub fn reporter(&self) -> Reporter {
        self.engine.transport().outer.reporter()
    }

    /// Opens a context. One with ranks of this host only uses boards; the others use messages.
    fn open(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.engine.check()?;
        let routes = self.engine.transport_mut();
        routes.outer.open_context(context)?;
        let local: Option<Vec<usize>> =
            context.members.iter().map(|&rank| routes.places.local(rank)).collect();
        let inner = match local {
            Some(members) => {
                let context = NewContext { members: &members, ..context };
                Some(self.collectives.open(&routes.rings, &context))
            }
            None => {
                self.collectives.withdraw(&routes.rings, context.offers[context.me]);
                None
            }
        };
        Ok(self.contexts.add(Opened { number: context.number, inner }))
    }

    /// Completes what is in progress, and waits until all ranks have: no connection is closed, and no memory is
    /// released, while another rank needs it.
    fn end_together(&mut self) -> Result<()> {
        Endpoint::leave(self)?;
        self.engine.complete_sends()?;
        let (messages, routes) = self.engine.parts_mut();
        routes.outer.begin_goodbye(messages)?;
        self.engine.complete(|engine| !engine.transport().outer.is_telling())?;
        let (messages, routes) = self.engine.parts_mut();
        routes.outer.say_goodbye(messages)?;
        self.engine.complete(|engine| engine.transport().outer.is_through())
    }
}

impl Owner for ClusterEndpoint {
    const IS_COMPILED: bool = false;

    fn collectives(&mut self) -> &mut HostCollectives {
        &mut self.collectives
    }

    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        let (messages, routes) = self.engine.parts_mut();
        (messages, &mut routes.rings)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn fail(&mut self, error: Error) -> Error {
        self.engine.fail(error)
    }
}

/// Reports of long waits go to the launcher of this host.
impl LongWaits for ClusterEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        Some(self.seat())
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }
}

/// Shift of the host's number in places of memory, which keeps the places of different hosts apart.
const HOST_SHIFT: u32 = 48;

impl RemoteMemory for ClusterEndpoint {
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        let place = self.seat().place_of(memory, bytes)?;
        Some(place | u64::from(self.host) << HOST_SHIFT)
    }

    // Ranks of other hosts cannot access memory at such a place.
    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.seat().allocate(bytes)
    }

    #[inline]
    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        let is_here = place >> HOST_SHIFT == u64::from(self.host);
        let place = place & ((1 << HOST_SHIFT) - 1);
        if is_here { self.seat().memory_at(place, bytes) } else { None }
    }

    // This must hold for all ranks, so not if some are on other hosts.
    fn reads_memory(&self) -> bool {
        let routes = self.engine.transport();
        routes.places.are_all_here() && routes.rings.may_use_cma()
    }

    unsafe fn read_memory(&mut self, from: RemoteAddress, to: Writable) -> Result<()> {
        self.check_here(from.rank)?;
        // SAFETY: the caller promises the same.
        unsafe { self.engine.transport().rings.read_memory_of(from, to) }
    }

    unsafe fn write_memory(&mut self, to: RemoteAddress, from: Readable) -> Result<()> {
        self.check_here(to.rank)?;
        // SAFETY: the caller promises the same.
        unsafe { self.engine.transport().rings.write_memory_of(to, from) }
    }
}

impl ClusterEndpoint {
    fn check_here(&self, rank: usize) -> Result<()> {
        match self.engine.transport().places.is_here(rank) {
            true => Ok(()),
            false => Err(Error::Unsupported {
                fabric: "this fabric".into(),
                what: format!("reach the memory of rank {rank}, which is on another host"),
            }),
        }
    }
}

// SAFETY: the memory of requests is used by the two transports alone, each of which uses it as the message engine says:
// from the start of a transfer until it is done or cancelled, and never after a failure.
unsafe impl Endpoint for ClusterEndpoint {
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

    fn describe(&self) -> FabricDescription {
        self.description.clone()
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        self.engine.transport().places.host_of(rank)
    }

    fn has_collectives_inside_hosts(&self) -> bool {
        true
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        let routes = self.engine.transport();
        routes.places.are_all_here().then(|| routes.rings.shared_line())
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.seat().set_priority(priority)
    }

    fn isolate(&mut self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        self.seat().isolate(isolation, on)
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.clock.quality()
    }

    fn offer_context(&mut self) -> ContextOffer {
        self.collectives.offer(&self.engine.transport().rings)
    }

    fn withdraw_context(&mut self, offer: ContextOffer) {
        self.collectives.withdraw(&self.engine.transport().rings, offer);
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.open(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        let Some(opened) = self.contexts.remove(place) else { return Ok(()) };
        if let Some(place) = opened.inner {
            self.collectives.close(place);
        }
        self.engine.transport_mut().outer.close_context(opened.number)?;
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

    fn post_receive_in_place(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room, true)
    }

    #[inline]
    fn is_done(&self, request: Request) -> bool {
        self.engine.is_done(request)
    }

    #[inline]
    fn envelope(&self, request: Request) -> Envelope {
        self.engine.envelope(request)
    }

    fn lent(&mut self, request: Request) -> Option<InPlace> {
        self.engine.transport_mut().rings.lend(request)
    }

    fn view(&self, message: &InPlace) -> &[u8] {
        self.engine.transport().rings.view(message)
    }

    fn give_back(&mut self, message: InPlace) -> Result<()> {
        let (messages, routes) = self.engine.parts_mut();
        routes.rings.give_back(messages, message)
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

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        self.engine.sleep_a_while(Duration::from_nanos(longest.as_ps() / 1000))
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    #[inline]
    fn send_at_once(&mut self, to: Destination, data: Readable) -> Result<bool> {
        self.engine.send_at_once(to, data.as_slice())
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

    fn send_window(&mut self, to: Destination, data: &[u8], count: usize) -> Result<()> {
        self.engine.send_window(to, data, count)
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let place = self.inner_place(place)?;
        HostCollectives::collective(self, place, call, idle)
    }

    fn starts_collectives(&self, place: ContextPlace) -> bool {
        self.inner_place(place).is_some_and(|place| self.collectives.has_team(place))
    }

    fn start_collective(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        let place = self.inner_place(place)?;
        HostCollectives::start(self, place, call)
    }

    fn advance_collective(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        HostCollectives::advance(self, started, call)
    }

    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        let Some(opened) = self.contexts.get(place) else { return 0 };
        let (messages, routes) = self.engine.parts_mut();
        match opened.inner {
            Some(place) => self.collectives.announce_by_messages(place, call),
            None => routes.outer.announce_by_messages(messages, opened.number, call),
        }
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        let opened = self.contexts.get(place)?;
        if let Some(place) = opened.inner {
            return HostCollectives::find_mismatch(self, place, number);
        }
        let (messages, routes) = self.engine.parts_mut();
        routes.outer.find_mismatch(messages, opened.number, number)
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        let Some(Opened { inner: None, number: context }) = self.contexts.get(place) else {
            return true;
        };
        let (messages, routes) = self.engine.parts_mut();
        routes.outer.have_left_compared(messages, context, number)
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.engine.is_liveness_check_due(polls)
    }

    fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.seat().allocate(bytes)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller promises the same.
        unsafe { self.seat().release(memory, bytes) };
    }

    fn leave(&mut self) -> Result<()> {
        self.collectives.leave();
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
        // The program's report of another rank's death must not hide its cause, which the other's host knows.
        let by_another = |error| {
            let known = self.engine.transport_mut().abort_reason();
            let known = known.or_else(|| self.engine.check().err());
            known.filter(Error::is_by_another).unwrap_or(error)
        };
        let outcome = outcome.map_err(by_another);
        let outcome = outcome.and_then(|()| self.end_together());
        let Routes { rings, outer, .. } = self.engine.into_transport();
        // In this order: whoever started the run should hear from the rank itself before it hears from its host.
        let status = outer.close(outcome.clone());
        status.max(rings.seat().finish(outcome))
    }
}
