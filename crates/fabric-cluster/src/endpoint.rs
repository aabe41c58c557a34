//! The [`Endpoint`] over both fabrics.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use contract::{
    AgreedCall, Awaited, ClockQuality, CollectiveCall, Completion, ContextOffer, ContextPlace,
    Destination, Endpoint, Envelope, Error, FabricDescription, InPlace, Isolation, NewContext,
    OperatingSystem, Priority, PriorityGranted, Readable, RemoteAddress, RemoteMemory, Request,
    Result, Selector, SharedLine, StartedCollective, Time, TimeSpan, Writable,
};

use crate::ClusterEndpoint;

/// Shift of the host's number in places of memory, which keeps the places of different hosts apart.
const HOST_SHIFT: u32 = 48;

impl RemoteMemory for ClusterEndpoint {
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        let place = self.inner().place_of(memory, bytes)?;
        Some(place | u64::from(self.rest().host) << HOST_SHIFT)
    }

    // Ranks of other hosts cannot access memory at such a place.
    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.inner_mut().allocate_on_host(bytes)
    }

    #[inline]
    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        let is_here = place >> HOST_SHIFT == u64::from(self.rest().host);
        let place = place & ((1 << HOST_SHIFT) - 1);
        if is_here { self.inner().memory_at(place, bytes) } else { None }
    }

    // This must hold for all ranks, so not if some are on other hosts.
    fn reads_memory(&self) -> bool {
        self.rest().places.are_all_here() && self.inner().reads_memory()
    }

    unsafe fn read_memory(&mut self, from: RemoteAddress, to: Writable) -> Result<()> {
        let from = RemoteAddress { rank: self.rank_here(from.rank)?, ..from };
        // SAFETY: the caller promises the same.
        unsafe { self.inner_mut().read_memory(from, to) }
    }

    unsafe fn write_memory(&mut self, to: RemoteAddress, from: Readable) -> Result<()> {
        let to = RemoteAddress { rank: self.rank_here(to.rank)?, ..to };
        // SAFETY: the caller promises the same.
        unsafe { self.inner_mut().write_memory(to, from) }
    }
}

impl ClusterEndpoint {
    fn rank_here(&self, rank: usize) -> Result<usize> {
        self.rest().places.local(rank).ok_or_else(|| Error::Unsupported {
            fabric: "this fabric".into(),
            what: format!("reach the memory of rank {rank}, which is on another host"),
        })
    }
}

// SAFETY: memory of requests is touched by the two fabrics alone, each of which promises the same. A receive that was
// posted to both is cancelled in one of them before the other is given a message for it.
unsafe impl Endpoint for ClusterEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.rest().outer.rank()
    }

    #[inline]
    fn size(&self) -> usize {
        self.rest().outer.size()
    }

    fn processor(&self) -> Option<usize> {
        self.rest().outer.processor()
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.rest().outer.every_rank_has_a_processor()
    }

    fn describe(&self) -> FabricDescription {
        let outer = self.rest().outer.describe();
        let inner = self.inner().describe();
        let with = |details: std::collections::BTreeMap<String, String>, side: &'static str| {
            details.into_iter().map(move |(name, value)| (format!("{side}: {name}"), value))
        };
        let details = with(inner.details, "in a host");
        FabricDescription {
            name: "cluster".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            details: details.chain(with(outer.details, "between hosts")).collect(),
            ..FabricDescription::default()
        }
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        self.rest().places.host_of(rank)
    }

    fn has_collectives_inside_hosts(&self) -> bool {
        true
    }

    fn shared_line(&self) -> Option<&dyn SharedLine> {
        self.inner().shared_line().filter(|_| self.rest().places.are_all_here())
    }

    fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        self.inner_mut().set_priority(priority)
    }

    fn isolate(&mut self, isolation: Isolation, on: bool) -> std::result::Result<(), String> {
        self.inner_mut().isolate(isolation, on)
    }

    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        self.rest().outer.operating_system()
    }

    #[inline]
    fn now(&self) -> Time {
        self.rest().outer.now()
    }

    fn clock(&self) -> ClockQuality {
        self.rest().outer.clock()
    }

    fn offer_context(&mut self) -> ContextOffer {
        self.inner_mut().offer_context()
    }

    fn withdraw_context(&mut self, offer: ContextOffer) {
        self.inner_mut().withdraw_context(offer);
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.open(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.close(place)
    }

    #[inline]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.start_send(to, data, until)
    }

    #[inline]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.start_receive(selector, room, false)
    }

    fn post_receive_in_place(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.start_receive(selector, room, true)
    }

    #[inline]
    fn is_done(&self, request: Request) -> bool {
        self.has_ended(request)
    }

    #[inline]
    fn envelope(&self, request: Request) -> Envelope {
        self.message_of(request)
    }

    fn lent(&mut self, request: Request) -> Option<InPlace> {
        let request = self.inner_request(request)?;
        self.inner_mut().lent(request)
    }

    fn view(&self, message: &InPlace) -> &[u8] {
        self.inner().view(message)
    }

    fn give_back(&mut self, message: InPlace) -> Result<()> {
        self.inner_mut().give_back(message)
    }

    #[inline]
    fn end(&mut self, request: Request) -> Envelope {
        self.forget(request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.cancel(request)
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        self.find(
            selector,
            |inner, selector| inner.probe(selector),
            |outer, selector| outer.probe(selector),
        )
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        self.find(
            selector,
            |inner, selector| inner.claim(selector, context, tag),
            |outer, selector| outer.claim(selector, context, tag),
        )
    }

    fn progress(&mut self) -> Result<()> {
        self.poll_both()
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        // What arrives from other hosts wakes the rank, too.
        self.limit_sleep();
        let rested = self.inner_mut().sleep_a_while(longest);
        rested.map_err(|error| self.outer_error(error))
    }

    #[inline]
    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.wait_for_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        self.wait_for(self.share_of_both(), done)
    }

    #[inline]
    fn send_at_once(&mut self, to: Destination, data: Readable) -> Result<bool> {
        match self.rest().places.local(to.rank) {
            Some(rank) => self.inner_mut().send_at_once(Destination { rank, ..to }, data),
            None => Ok(false),
        }
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        // SAFETY: `data` is borrowed until this returns: then the request is done, or the call has failed for good.
        let readable = unsafe { Readable::new(data.as_ptr(), data.len()) };
        if self.send_at_once(to, readable)? {
            return Ok(());
        }
        if to.rank == self.rank() {
            // Detects whether that can ever complete, and waits for nobody.
            let rank = self.rank_here(to.rank)?;
            let sent = self.inner_mut().send(Destination { rank, ..to }, data);
            return sent.map_err(|error| self.outer_error(error));
        }
        let request = self.start_send(to, readable, Completion::Local)?;
        self.wait_for_any(&[request])?;
        self.forget(request);
        Ok(())
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let place = self.inner_place(place)?;
        let (rest, share) = (self.rest_pointer(), self.share_of_both());
        let mut polls = 0_u32;
        let outcome = self.inner_mut().collective(place, call, &mut |inner| {
            let mut this = ClusterEndpoint::seen_as(inner, rest);
            polls = polls.saturating_add(1);
            if let Err(error) = this.step(share, polls) {
                this.fail_inside(error);
            }
            idle(&mut this);
            if !this.rest().outer.every_rank_has_a_processor() {
                this.limit_sleep();
            }
        })?;
        Some(outcome.map_err(|error| self.outer_error(error)))
    }

    fn starts_collectives(&self, place: ContextPlace) -> bool {
        self.inner_place(place).is_some_and(|place| self.inner().starts_collectives(place))
    }

    fn start_collective(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        let place = self.inner_place(place)?;
        self.inner_mut().start_collective(place, call)
    }

    fn advance_collective(
        &mut self,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        let outcome = self.inner_mut().advance_collective(started, call)?;
        Some(outcome.map_err(|error| self.outer_error(error)))
    }

    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        match self.inner_place(place) {
            Some(place) => self.inner_mut().announce_by_messages(place, call),
            None => {
                let (_, rest) = self.both_mut();
                let Some(opened) = rest.contexts.get(place) else { return 0 };
                let number = rest.outer.announce_by_messages(ContextPlace(opened.number), call);
                self.settle();
                number
            }
        }
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        let opened = self.rest().contexts.get(place)?;
        let found = match opened.inner {
            Some(place) => {
                let found = self.inner_mut().find_mismatch(place, number)?;
                Some(self.outer_error(found))
            }
            None => self.rest_mut().outer.find_mismatch(ContextPlace(opened.number), number),
        };
        self.settle();
        found
    }

    fn have_left_compared(&mut self, place: ContextPlace, number: u32) -> bool {
        let Some(opened) = self.rest().contexts.get(place) else { return true };
        match opened.inner {
            Some(place) => self.inner_mut().have_left_compared(place, number),
            None => self.rest_mut().outer.have_left_compared(ContextPlace(opened.number), number),
        }
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        self.inner().is_liveness_check_due(polls)
    }

    fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        self.inner_mut().allocate(bytes)
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller promises the same.
        unsafe { self.inner_mut().release(memory, bytes) };
    }

    fn leave(&mut self) -> Result<()> {
        self.leave_once()
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.inner().seat().is_noting_waits() || self.rest().outer.any_has_left()
    }

    fn is_hopeless(&self, request: Request) -> bool {
        self.cannot_end(request)
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        self.inner().seat().note_awaited(|| Awaited::Message(selector));
        self.rest().outer.none_will_send(selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.give_up(request)
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        self.end_run(outcome)
    }
}
