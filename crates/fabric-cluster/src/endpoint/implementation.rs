//! The implementation of the contract's [`Endpoint`].

use contract::{
    AgreedCall, Boards, Claim, CollectiveCall, Completion, Computer, ComputerServices,
    ContextCollectives, ContextOffer, ContextPlace, Destination, Endpoint, Envelope, Error,
    FabricDescription, HostMemory, InPlace, InPlaceReceives, Isolation, LongWaits, MemoryCopies,
    NewContext, OperatingSystem, Priority, PriorityGranted, Readable, Request, Result, Selector,
    Series, SharedLine, StartedCollective, Time, Writable, receive_in_turn,
};
use engine::Transport;
use fabric_shm::HostCollectives;

use super::{ClusterEndpoint, Engine};
use crate::contexts::Opened;

impl ComputerServices for ClusterEndpoint {
    fn host_of(&self, rank: usize) -> Option<usize> {
        self.engine.transport().host_of(rank)
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        let routes = self.engine.transport();
        routes.places.are_all_here().then(|| routes.rings.shared_line())
    }

    fn set_priority(&self, priority: Priority) -> PriorityGranted {
        self.seat().set_priority(priority)
    }

    fn isolate(&self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        self.seat().isolate(isolation, on)
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }
}

impl InPlaceReceives for ClusterEndpoint {
    fn post(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room, true)
    }

    fn lend(&mut self, request: Request) -> Option<InPlace> {
        self.engine.transport_mut().rings.lend(request)
    }

    fn give_back(&mut self, message: InPlace) -> Result<()> {
        let (messages, routes) = self.engine.parts_mut();
        routes.rings.give_back(messages, message)
    }
}

impl Boards for ClusterEndpoint {
    fn offer(&mut self) -> ContextOffer {
        self.collectives.offer(&self.engine.transport().rings)
    }

    fn withdraw(&mut self, offer: ContextOffer) {
        self.collectives.withdraw(&self.engine.transport().rings, offer);
    }

    fn can_start(&self, place: ContextPlace) -> bool {
        self.inner_place(place).is_some_and(|place| self.collectives.has_team(place))
    }

    fn start(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        let place = self.inner_place(place)?;
        HostCollectives::start(self, place, call)
    }

    fn advance(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        HostCollectives::advance(self, started, call)
    }
}

impl ContextCollectives for ClusterEndpoint {
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        let Some(opened) = self.contexts.get(place) else { return 0 };
        match opened.inner {
            Some(place) => self.collectives.announce_by_messages(place, call),
            None => self.engine.announce_by_messages(ContextPlace(opened.number), call),
        }
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        let opened = self.contexts.get(place)?;
        match opened.inner {
            Some(place) => HostCollectives::find_mismatch(self, place, number),
            None => self.engine.find_mismatch(ContextPlace(opened.number), number),
        }
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        match self.contexts.get(place) {
            Some(Opened { inner: None, number: context }) => {
                self.engine.have_left_compared(ContextPlace(context), number)
            }
            _ => true,
        }
    }

    fn boards(&mut self) -> Option<&mut dyn Boards> {
        Some(self)
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

    fn computer(&self) -> Computer<'_> {
        self.placement.computer(&self.clock, self)
    }

    fn describe(&self) -> FabricDescription {
        self.description.clone()
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.open(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        let Some(opened) = self.contexts.remove(place) else { return Ok(()) };
        if let Some(place) = opened.inner {
            self.collectives.close(place);
        }
        self.engine.close_context(opened.number);
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

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let place = self.inner_place(place)?;
        HostCollectives::collective(self, place, call, idle)
    }

    // Ranks of other hosts cannot access its places.
    fn host_memory(&self) -> Option<HostMemory<'_>> {
        let routes = self.engine.transport();
        let copies = routes.places.are_all_here() && routes.rings.may_use_cma();
        Some(HostMemory {
            arenas: self.seat(),
            host: self.host,
            is_for_windows: true,
            copies: copies.then_some(&routes.rings as &dyn MemoryCopies),
        })
    }

    fn in_place(&mut self) -> Option<&mut dyn InPlaceReceives> {
        Some(self)
    }

    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        Some(self)
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(&mut self.engine)
    }

    fn repeat(&mut self, series: Series<'_>, count: usize) -> Result<Option<Envelope>> {
        match series {
            Series::Send(to, data) => self.engine.send_window(to, data, count).map(|()| None),
            Series::Receive(selector, buffer) => receive_in_turn(self, selector, buffer, count),
        }
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        self.engine.finish(outcome)
    }
}
