//! An endpoint around the reference endpoint, with one fault in its contexts or requests.

use std::ptr::NonNull;

use crate::reference::ReferenceEndpoint;
use contract::FabricDescription;
use contract::{
    AgreedCall, Arenas, Boards, Claim, CollectiveCall, Completion, Computer, ContextCollectives,
    ContextOffer, ContextPlace, Destination, Endpoint, Envelope, Error, HostMemory, LongWaits,
    NewContext, Readable, Request, Result, Selector, StartedCollective, Time, Writable,
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EndpointFault {
    None,
    /// Messages of all contexts match each other.
    IgnoresContexts,
    /// Contexts with equal low bits match each other.
    CutsContexts,
    /// Messages of programs and those inside collectives match each other.
    MixesCollectives,
    /// A probe also finds messages of the context of all ranks.
    ProbesOtherContexts,
    SaysDoneTooEarly,
    ForgetsToCancel,
    ClaimsNothing,
    SynchronousAsLocal,
    SendsAtOnceTwice,
    NobodyLeaves,
    /// Mismatched collectives are not detected.
    MatchesAll,
    /// Matching collectives are reported as mismatched.
    MatchesNone,
    /// Started collectives end before they have done anything.
    EndsStartedAtOnce,
    /// Started collectives end once a later one has.
    EndsStartedBackwards,
    /// Places of memory refer to memory that no other rank sees.
    SeesItsOwnMemory,
}

pub(super) struct BrokenEndpoint {
    inner: ReferenceEndpoint,
    fault: EndpointFault,
    announced: u32,
}

impl BrokenEndpoint {
    pub(super) fn new(inner: ReferenceEndpoint, fault: EndpointFault) -> Self {
        BrokenEndpoint { inner, fault, announced: 0 }
    }

    fn context(&self, context: u32) -> u32 {
        match self.fault {
            EndpointFault::IgnoresContexts => context & 1,
            EndpointFault::CutsContexts => context & 0x1f,
            EndpointFault::MixesCollectives => context & !1,
            _ => context,
        }
    }

    fn selector(&self, selector: Selector) -> Selector {
        Selector { context: self.context(selector.context), ..selector }
    }
}

#[allow(unsafe_code)]
impl Arenas for BrokenEndpoint {
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.inner.place_of(memory, bytes)
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        match self.fault {
            EndpointFault::SeesItsOwnMemory => {
                NonNull::new(vec![0_u64; bytes / 8 + 1].leak()).map(|words| words.cast())
            }
            _ => self.inner.memory_at(place, bytes),
        }
    }

    fn allocate(&self, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    unsafe fn release(&self, _memory: NonNull<u8>, _bytes: usize) {}
}

impl Boards for BrokenEndpoint {
    fn start(
        &mut self,
        place: ContextPlace,
        _call: &CollectiveCall<'_>,
    ) -> Option<StartedCollective> {
        match self.fault {
            EndpointFault::EndsStartedAtOnce | EndpointFault::EndsStartedBackwards => {
                self.announced += 1;
                Some(StartedCollective { place, number: self.announced })
            }
            _ => None,
        }
    }

    fn advance(
        &mut self,
        started: StartedCollective,
        _call: CollectiveCall<'_>,
    ) -> Option<Result<()>> {
        let ends =
            self.fault == EndpointFault::EndsStartedAtOnce || started.number == self.announced;
        if ends && self.fault == EndpointFault::EndsStartedBackwards {
            self.announced -= 1;
        }
        ends.then_some(Ok(()))
    }

    fn offer(&mut self) -> ContextOffer {
        ContextOffer::NOTHING
    }

    fn withdraw(&mut self, _offer: ContextOffer) {}

    fn can_start(&self, _place: ContextPlace) -> bool {
        false
    }
}

impl ContextCollectives for BrokenEndpoint {
    fn announce_by_messages(&mut self, _place: ContextPlace, _call: AgreedCall) -> u32 {
        match self.fault {
            EndpointFault::MatchesAll | EndpointFault::MatchesNone => {
                self.announced += 1;
                self.announced
            }
            _ => 0,
        }
    }

    fn find_mismatch(&mut self, _place: ContextPlace, _number: u32) -> Option<Error> {
        let explanation = "they never match".into();
        match self.fault {
            EndpointFault::MatchesNone => Some(Error::MismatchedCollective { explanation }),
            _ => None,
        }
    }

    fn boards(&mut self) -> Option<&mut dyn Boards> {
        Some(self)
    }
}

impl LongWaits for BrokenEndpoint {
    fn leave(&mut self) -> Result<()> {
        self.inner.leave()
    }

    fn any_has_left(&mut self) -> bool {
        self.fault != EndpointFault::NobodyLeaves && self.inner.any_has_left()
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        self.inner.cannot_complete(request)
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        self.inner.none_will_send(selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        self.inner.give_up_on(request)
    }
}

// SAFETY: only the inner endpoint accesses memory.
#[allow(unsafe_code)]
unsafe impl Endpoint for BrokenEndpoint {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn computer(&self) -> Computer<'_> {
        self.inner.computer()
    }

    fn describe(&self) -> FabricDescription {
        self.inner.describe()
    }

    fn now(&self) -> Time {
        self.inner.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.inner.open_context(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.inner.close_context(place)
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let until = match self.fault {
            EndpointFault::SynchronousAsLocal => Completion::Local,
            _ => until,
        };
        let to = Destination { context: self.context(to.context), ..to };
        self.inner.post_send(to, data, until)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.inner.post_receive(self.selector(selector), room)
    }

    fn is_done(&self, request: Request) -> bool {
        self.fault == EndpointFault::SaysDoneTooEarly || self.inner.is_done(request)
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.inner.envelope(request)
    }

    fn end(&mut self, request: Request) -> Envelope {
        self.inner.end(request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.fault == EndpointFault::ForgetsToCancel || self.inner.cancel_receive(request)
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        let claim = claim.filter(|_| self.fault != EndpointFault::ClaimsNothing);
        let found = self.inner.probe(self.selector(selector), claim)?;
        if found.is_some() || claim.is_some() || self.fault != EndpointFault::ProbesOtherContexts {
            return Ok(found);
        }
        for context in (0..100).step_by(2) {
            let found = self.inner.probe(Selector { context, ..selector }, None)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.inner.progress(wanted)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        self.inner.wait_any(requests)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        while !done(self) {
            self.inner.progress(None)?;
        }
        Ok(())
    }

    fn send_at_once(&mut self, to: Destination, data: Readable) -> Result<bool> {
        if self.fault == EndpointFault::SendsAtOnceTwice {
            self.inner.post_send(to, data, Completion::Local)?;
        }
        Ok(false)
    }

    fn host_memory(&self) -> Option<HostMemory<'_>> {
        Some(HostMemory { arenas: self, host: 0, is_for_windows: true, copies: None })
    }

    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        Some(self)
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(self)
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        self.inner.finish(outcome)
    }
}
