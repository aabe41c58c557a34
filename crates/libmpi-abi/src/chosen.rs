//! The fabric that this process communicates over, as `cornerstone launch` says.
//!
//! One [`Endpoint`] stands before several, so that the rest is compiled once. The arm of shared memory is the hot one.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use contract::record::FabricDescription;
use contract::{
    ClockQuality, CollectiveCall, Completion, ContextOffer, ContextPlace, Endpoint, Envelope,
    Error, Readable, RemoteMemory, Request, Result, Selector, StartedCollective, Time, TimeSpan,
    Writable,
};
use fabric_cluster::{ClusterEndpoint, Joined, join_from_library};
use fabric_proxy::ProxyEndpoint;
use fabric_shm::ShmEndpoint;
use fabric_tcp::{TcpEndpoint, library};

/// An endpoint of one of the fabrics.
///
/// It is a pointer, and owns what it points to: while an endpoint waits, one that owns nothing stands for it ([`Chosen::seen_as`]).
pub(crate) enum Chosen {
    Shm(NonNull<ShmEndpoint>),
    Tcp(NonNull<TcpEndpoint>),
    Cluster(NonNull<ClusterEndpoint>),
    Proxy(NonNull<ProxyEndpoint>),
}

/// Calls of it lie apart from the hot path.
#[cold]
#[inline(always)]
fn rare() {}

impl Chosen {
    /// Joins the run that this process was launched for, or makes one of this process alone.
    ///
    /// # Errors
    /// Those of joining.
    pub(crate) fn join() -> Result<Self> {
        let Some(launched) = ShmEndpoint::attach_library() else {
            return Ok(Chosen::Shm(owned(ShmEndpoint::alone()?)));
        };
        let launched = match fabric_proxy::join(launched?)? {
            Ok(endpoint) => return Ok(Chosen::Proxy(owned(endpoint))),
            Err(launched) => launched,
        };
        Ok(match join_from_library(launched)? {
            Joined::One(library::Joined::SharedMemory(endpoint)) => Chosen::Shm(owned(endpoint)),
            Joined::One(library::Joined::Tcp(endpoint)) => Chosen::Tcp(owned(endpoint)),
            Joined::Cluster(endpoint) => Chosen::Cluster(owned(endpoint)),
        })
    }

    /// One that owns nothing, for as long as `endpoint` is borrowed.
    #[inline(always)]
    fn seen_as<E>(endpoint: &mut E, kind: fn(NonNull<E>) -> Chosen) -> ManuallyDrop<Chosen> {
        ManuallyDrop::new(kind(NonNull::from(endpoint)))
    }
}

/// What a [`Chosen`] points to.
fn owned<E>(endpoint: E) -> NonNull<E> {
    NonNull::from(Box::leak(Box::new(endpoint)))
}

/// Takes an endpoint out of what a [`Chosen`] points to.
///
/// # Safety
/// Nobody uses the pointer any more, which [`owned`] made.
unsafe fn taken<E>(endpoint: NonNull<E>) -> E {
    // SAFETY: our caller's promise.
    *unsafe { Box::from_raw(endpoint.as_ptr()) }
}

impl Drop for Chosen {
    fn drop(&mut self) {
        // SAFETY: it is not used again; those that own nothing are never dropped.
        unsafe {
            match self {
                Chosen::Shm(endpoint) => drop(taken(*endpoint)),
                Chosen::Tcp(endpoint) => drop(taken(*endpoint)),
                Chosen::Cluster(endpoint) => drop(taken(*endpoint)),
                Chosen::Proxy(endpoint) => drop(taken(*endpoint)),
            }
        }
    }
}

/// Does something with an endpoint that is not the hot one.
macro_rules! rarely {
    ($seen:ident, $endpoint:ident, $kind:ident, $variant:ident => $body:expr) => {{
        rare();
        // SAFETY: it lives as long as its owner, which is borrowed alike.
        let ($endpoint, $kind) = (unsafe { $endpoint.$seen() }, Chosen::$variant);
        $body
    }};
}

/// Does the same with whichever endpoint it is.
macro_rules! with {
    ($chosen:expr, $endpoint:ident => $body:expr) => {
        with!(as_ref of $chosen, $endpoint, _kind => $body)
    };
    ($chosen:expr, mut $endpoint:ident => $body:expr) => {
        with!(as_mut of $chosen, $endpoint, _kind => $body)
    };
    ($chosen:expr, mut $endpoint:ident, $kind:ident => $body:expr) => {
        with!(as_mut of $chosen, $endpoint, $kind => $body)
    };
    ($seen:ident of $chosen:expr, $endpoint:ident, $kind:ident => $body:expr) => {
        match $chosen {
            Chosen::Shm($endpoint) => {
                // SAFETY: it lives as long as its owner, which is borrowed alike.
                let ($endpoint, $kind) = (unsafe { $endpoint.$seen() }, Chosen::Shm);
                $body
            }
            Chosen::Tcp($endpoint) => rarely!($seen, $endpoint, $kind, Tcp => $body),
            Chosen::Cluster($endpoint) => rarely!($seen, $endpoint, $kind, Cluster => $body),
            Chosen::Proxy($endpoint) => rarely!($seen, $endpoint, $kind, Proxy => $body),
        }
    };
}

impl RemoteMemory for Chosen {
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        with!(self, endpoint => endpoint.place_of(memory, bytes))
    }

    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        with!(self, endpoint => endpoint.place_on_host(memory, bytes))
    }

    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        with!(self, mut endpoint => endpoint.allocate_on_host(bytes))
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        with!(self, endpoint => endpoint.memory_at(place, bytes))
    }

    fn reads_memory(&self) -> bool {
        with!(self, endpoint => endpoint.reads_memory())
    }

    unsafe fn read_memory(
        &mut self,
        rank: usize,
        address: u64,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: our caller's promise.
        with!(self, mut endpoint => unsafe { endpoint.read_memory(rank, address, to, bytes) })
    }

    unsafe fn write_memory(
        &mut self,
        rank: usize,
        address: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: our caller's promise.
        with!(self, mut endpoint => unsafe { endpoint.write_memory(rank, address, from, bytes) })
    }
}

// SAFETY: all that touches the memory of requests are the endpoints behind it.
unsafe impl Endpoint for Chosen {
    #[inline(always)]
    fn rank(&self) -> usize {
        with!(self, endpoint => endpoint.rank())
    }

    #[inline(always)]
    fn size(&self) -> usize {
        with!(self, endpoint => endpoint.size())
    }

    fn processor(&self) -> Option<usize> {
        with!(self, endpoint => endpoint.processor())
    }

    fn every_rank_has_a_processor(&self) -> bool {
        with!(self, endpoint => endpoint.every_rank_has_a_processor())
    }

    fn describe(&self) -> FabricDescription {
        with!(self, endpoint => endpoint.describe())
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        with!(self, endpoint => endpoint.host_of(rank))
    }

    #[inline(always)]
    fn now(&self) -> Time {
        with!(self, endpoint => endpoint.now())
    }

    fn clock(&self) -> ClockQuality {
        with!(self, endpoint => endpoint.clock())
    }

    fn offer_context(&mut self) -> ContextOffer {
        with!(self, mut endpoint => endpoint.offer_context())
    }

    fn withdraw_context(&mut self, offer: ContextOffer) {
        with!(self, mut endpoint => endpoint.withdraw_context(offer))
    }

    fn open_context(
        &mut self,
        number: u32,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<ContextPlace> {
        with!(self, mut endpoint => endpoint.open_context(number, members, me, offers))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        with!(self, mut endpoint => endpoint.close_context(place))
    }

    #[inline(always)]
    fn post_send(
        &mut self,
        to: usize,
        context: u32,
        tag: u32,
        data: Readable,
        completion: Completion,
    ) -> Result<Request> {
        with!(self, mut endpoint => endpoint.post_send(to, context, tag, data, completion))
    }

    #[inline(always)]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        with!(self, mut endpoint => endpoint.post_receive(selector, room))
    }

    #[inline(always)]
    fn is_done(&self, request: Request) -> bool {
        with!(self, endpoint => endpoint.is_done(request))
    }

    #[inline(always)]
    fn envelope(&self, request: Request) -> Envelope {
        with!(self, endpoint => endpoint.envelope(request))
    }

    #[inline(always)]
    fn outcome(&mut self, request: Request) -> Result<()> {
        with!(self, mut endpoint => endpoint.outcome(request))
    }

    #[inline(always)]
    fn end(&mut self, request: Request) -> Envelope {
        with!(self, mut endpoint => endpoint.end(request))
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        with!(self, mut endpoint => endpoint.cancel_receive(request))
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        with!(self, mut endpoint => endpoint.probe(selector))
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        with!(self, mut endpoint => endpoint.claim(selector, context, tag))
    }

    #[inline(always)]
    fn progress(&mut self) -> Result<()> {
        with!(self, mut endpoint => endpoint.progress())
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        with!(self, mut endpoint => endpoint.sleep_a_while(longest))
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        with!(self, mut endpoint => endpoint.wait_any(requests))
    }

    #[inline(always)]
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        with!(self, mut endpoint, kind => {
            endpoint.wait_until(&mut |one| done(&mut Chosen::seen_as(one, kind)))
        })
    }

    #[inline(always)]
    fn send_at_once(&mut self, to: usize, context: u32, tag: u32, data: Readable) -> Result<bool> {
        with!(self, mut endpoint => endpoint.send_at_once(to, context, tag, data))
    }

    #[inline(always)]
    fn send(&mut self, to: usize, context: u32, tag: u32, data: &[u8]) -> Result<()> {
        with!(self, mut endpoint => endpoint.send(to, context, tag, data))
    }

    #[inline(always)]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        with!(self, mut endpoint => endpoint.receive(selector, buffer))
    }

    #[inline(always)]
    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        with!(self, mut endpoint, kind => {
            endpoint.collective(place, call, &mut |one| idle(&mut Chosen::seen_as(one, kind)))
        })
    }

    #[inline(always)]
    fn start_collective(
        &mut self,
        place: ContextPlace,
        call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        with!(self, mut endpoint => endpoint.start_collective(place, call))
    }

    #[inline(always)]
    fn advance_collective(
        &mut self,
        place: ContextPlace,
        started: StartedCollective,
        call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        with!(self, mut endpoint => endpoint.advance_collective(place, started, call))
    }

    fn announce_by_messages(&mut self, place: ContextPlace, mark: u32) -> u32 {
        with!(self, mut endpoint => endpoint.announce_by_messages(place, mark))
    }

    fn find_mismatch(&mut self, place: ContextPlace, number: u32) -> Option<Error> {
        with!(self, mut endpoint => endpoint.find_mismatch(place, number))
    }

    fn is_liveness_check_due(&self, polls: u32) -> bool {
        with!(self, endpoint => endpoint.is_liveness_check_due(polls))
    }

    fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        with!(self, mut endpoint => endpoint.allocate(bytes))
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: our caller's promise.
        with!(self, mut endpoint => unsafe { endpoint.release(memory, bytes) })
    }

    fn leave(&mut self) -> Result<()> {
        with!(self, mut endpoint => endpoint.leave())
    }

    #[inline(always)]
    fn any_has_left(&self) -> bool {
        with!(self, endpoint => endpoint.any_has_left())
    }

    fn is_hopeless(&self, request: Request) -> bool {
        with!(self, endpoint => endpoint.is_hopeless(request))
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        with!(self, endpoint => endpoint.none_will_send(selector))
    }

    fn expect_other_ends(&mut self) {
        with!(self, mut endpoint => endpoint.expect_other_ends());
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        with!(self, mut endpoint => endpoint.give_up_on(request))
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        let this = ManuallyDrop::new(self);
        // SAFETY: this is the last use of the pointer.
        unsafe {
            match *this {
                Chosen::Shm(endpoint) => taken(endpoint).finish(outcome),
                Chosen::Tcp(endpoint) => taken(endpoint).finish(outcome),
                Chosen::Cluster(endpoint) => taken(endpoint).finish(outcome),
                Chosen::Proxy(endpoint) => taken(endpoint).finish(outcome),
            }
        }
    }
}
