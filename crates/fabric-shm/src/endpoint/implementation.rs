//! The implementation of the contract's [`Endpoint`] by the engine and the teams.

use collectives::AgreedCall;
use contract::{
    Boards, Claim, CollectiveCall, Completion, Computer, ComputerServices, ContextCollectives,
    ContextOffer, ContextPlace, Destination, Endpoint, Envelope, Error, FabricDescription,
    HostMemory, InPlace, InPlaceReceives, Isolation, LongWaits, MemoryCopies, NewContext,
    OperatingSystem, Priority, PriorityGranted, Readable, Request, Result, Selector, Series,
    SharedLine, StartedCollective, Time, Writable, receive_in_turn,
};

use super::ShmEndpoint;
use crate::collectives::HostCollectives;
use crate::transport::Engine;

impl ComputerServices for ShmEndpoint {
    fn shared_line(&self) -> Option<&dyn SharedLine> {
        Some(self.engine.transport().shared_line())
    }

    fn set_priority(&self, priority: Priority) -> PriorityGranted {
        self.seat().set_priority(priority)
    }

    fn isolate(&self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        self.seat().isolate(isolation, on)
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.seat().processor()))
    }
}

impl InPlaceReceives for ShmEndpoint {
    fn post(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.engine.post_receive(selector, room, true)
    }

    fn lend(&mut self, request: Request) -> Option<InPlace> {
        self.engine.transport_mut().lend(request)
    }

    fn give_back(&mut self, message: InPlace) -> Result<()> {
        let (messages, rings) = self.engine.parts_mut();
        rings.give_back(messages, message)
    }
}

impl Boards for ShmEndpoint {
    fn offer(&mut self) -> ContextOffer {
        self.collectives.offer(self.engine.transport())
    }

    fn withdraw(&mut self, offer: ContextOffer) {
        self.collectives.withdraw(self.engine.transport(), offer);
    }

    fn can_start(&self, place: ContextPlace) -> bool {
        self.collectives.has_team(place)
    }

    #[inline]
    fn start(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        HostCollectives::start(self, place, call)
    }

    #[inline]
    fn advance(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        HostCollectives::advance(self, started, call)
    }
}

impl ContextCollectives for ShmEndpoint {
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        self.collectives.announce_by_messages(place, call)
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        HostCollectives::find_mismatch(self, place, number)
    }

    fn boards(&mut self) -> Option<&mut dyn Boards> {
        Some(self)
    }
}

// SAFETY: the engine uses the memory of an operation from its start until it marks it done or takes it out of its
// queues. After a failure it refuses every call before it touches anything (`Engine::check_alive`).
// `Engine::close_co_copies` keeps helpers of co-copies away.
unsafe impl Endpoint for ShmEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.engine.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.engine.size()
    }

    fn computer(&self) -> Computer<'_> {
        Computer {
            processor: self.seat().processor(),
            every_rank_has_a_processor: self.engine.has_own_processor(),
            clock: self.clock.quality(),
            services: self,
        }
    }

    fn describe(&self) -> FabricDescription {
        FabricDescription {
            name: "local".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: self.details(),
            shared_memory: Some(HostCollectives::shared_memory(self.engine.transport())),
            plans: self.collectives.plans(self.engine.transport()),
            ..FabricDescription::default()
        }
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        Ok(self.collectives.open(self.engine.transport(), &context))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.collectives.close(place);
        Ok(())
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        #[cfg(feature = "delayed-sends")]
        super::delay::before_send();
        self.engine.post_send(to, data, until)
    }

    #[inline(always)]
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

    #[inline]
    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.engine.progress(wanted)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.engine.wait_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    #[inline(always)]
    fn send_at_once(&mut self, to: Destination, data: Readable) -> Result<bool> {
        self.engine.send_at_once(to, data.as_slice())
    }

    #[inline]
    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        #[cfg(feature = "delayed-sends")]
        super::delay::before_send();
        self.engine.send(to, data)
    }

    #[inline]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.engine.receive(selector, buffer)
    }

    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        #[cfg(feature = "delayed-sends")]
        super::delay::before_send();
        self.engine.exchange((to, data), (selector, buffer))
    }

    #[inline(always)]
    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        HostCollectives::collective(self, place, call, idle)
    }

    fn host_memory(&self) -> Option<HostMemory<'_>> {
        let rings = self.engine.transport();
        let copies = rings.may_use_cma().then_some(rings as &dyn MemoryCopies);
        Some(HostMemory { arenas: self.seat(), host: 0, is_for_windows: true, copies })
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
            Series::Send(to, data) => {
                #[cfg(feature = "delayed-sends")]
                super::delay::before_send();
                self.engine.send_window(to, data, count).map(|()| None)
            }
            Series::Receive(selector, buffer) => receive_in_turn(self, selector, buffer, count),
        }
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        self.end_run(outcome)
    }
}
