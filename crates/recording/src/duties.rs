//! The actions of a rank while it waits in a collective, for example answers to requests for its windows.
//!
//! Other ranks may enter the collective only once they have their answers, which are sent in the middle of it. So a
//! replay executes such events whenever the collective waits.

use std::collections::VecDeque;

use contract::{
    Claim, CollectiveCall, Completion, Computer, ContextPlace, Destination, Endpoint, Envelope,
    Error, FabricDescription, LongWaits, NewContext, Readable, Request, Result, Selector,
    SimulatedTime, Time, Work, Writable,
};

use crate::event::RankEvent;
use crate::operations::Operations;

/// An endpoint that executes events of its rank while it waits.
pub(crate) struct ServingEndpoint<E> {
    pub(crate) endpoint: E,
    pub(crate) operations: Operations,
    /// The events that are due in the current wait.
    pub(crate) duties: Duties,
}

/// Events that a rank executes while it waits in another operation.
#[derive(Default)]
pub(crate) struct Duties {
    events: VecDeque<RankEvent>,
    failed: Option<Error>,
}

impl Duties {
    pub(crate) fn add(&mut self, event: RankEvent) {
        self.events.push_back(event);
    }

    /// Takes the remaining events, or the error that ended them.
    pub(crate) fn take(&mut self) -> Result<VecDeque<RankEvent>> {
        self.failed.take().map_or(Ok(()), Err)?;
        Ok(std::mem::take(&mut self.events))
    }

    /// Executes the events that need no wait, and leaves computing for the time after the collective: other ranks may
    /// enter it only with an answer that was sent after the computing.
    fn advance<E: Endpoint>(&mut self, endpoint: &mut E, operations: &mut Operations) {
        let mut index = 0;
        while let Some(&event) = self.events.get(index) {
            if matches!(event, RankEvent::Compute(_)) {
                index += 1;
                continue;
            }
            match operations.perform(endpoint, event) {
                Ok(true) => drop(self.events.remove(index)),
                Ok(false) => return,
                Err(error) => {
                    self.events.clear();
                    self.failed = Some(error);
                }
            }
        }
    }
}

impl<E: Endpoint> ServingEndpoint<E> {
    pub(crate) fn new(endpoint: E, operations: Operations) -> Self {
        ServingEndpoint { endpoint, operations, duties: Duties::default() }
    }

    /// Starts or ends an operation. Returns false if that would have to wait.
    pub(crate) fn perform(&mut self, event: RankEvent) -> Result<bool> {
        self.operations.perform(&mut self.endpoint, event)
    }

    fn is_free(&self) -> bool {
        self.duties.events.is_empty()
    }

    fn finish_one(&mut self, request: Request) -> Result<Envelope> {
        self.wait_any(&[request])?;
        Ok(self.endpoint.end(request))
    }
}

/// The time of the endpoint inside. What a recorded rank has computed is an event of its own.
impl<E: Endpoint> SimulatedTime for ServingEndpoint<E> {
    fn wait_until_time(&mut self, time: Time) {
        contract::wait_until_time(&mut self.endpoint, time);
    }

    fn yield_processor(&mut self) -> Result<()> {
        self.endpoint.simulated_time().map_or(Ok(()), |inside| inside.yield_processor())
    }

    fn skip_idle_polls(&mut self, time: Time) -> Result<bool> {
        self.endpoint.simulated_time().map_or(Ok(false), |inside| inside.skip_idle_polls(time))
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn mark_algorithm(&mut self, begins: bool) {
        if let Some(inside) = self.endpoint.simulated_time() {
            inside.mark_algorithm(begins);
        }
    }
}

// SAFETY: it does with all memory what the endpoint inside does, which keeps the contract's promises.
unsafe impl<E: Endpoint> Endpoint for ServingEndpoint<E> {
    fn rank(&self) -> usize {
        self.endpoint.rank()
    }

    fn size(&self) -> usize {
        self.endpoint.size()
    }

    fn computer(&self) -> Computer<'_> {
        self.endpoint.computer()
    }

    fn simulated_time(&mut self) -> Option<&mut dyn SimulatedTime> {
        self.endpoint.simulated_time().is_some().then_some(self as _)
    }

    fn describe(&self) -> FabricDescription {
        self.endpoint.describe()
    }

    fn now(&self) -> Time {
        self.endpoint.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.endpoint.open_context(context)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.endpoint.close_context(place)
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.endpoint.post_send(to, data, until)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        self.endpoint.post_receive(selector, room)
    }

    fn is_done(&self, request: Request) -> bool {
        self.endpoint.is_done(request)
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.endpoint.envelope(request)
    }

    fn end(&mut self, request: Request) -> Envelope {
        self.endpoint.end(request)
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.endpoint.cancel_receive(request)
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        self.endpoint.probe(selector, claim)
    }

    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        self.endpoint.progress(wanted)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        if self.is_free() {
            return self.endpoint.wait_any(requests);
        }
        let ServingEndpoint { endpoint, operations, duties } = self;
        let mut found = None;
        endpoint.wait_until(&mut |endpoint| {
            duties.advance(endpoint, operations);
            found = requests.iter().position(|&one| endpoint.is_done(one));
            found.is_some()
        })?;
        found.ok_or(Error::UnknownRequest)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        while !done(self) {
            let ServingEndpoint { endpoint, operations, duties } = self;
            let mut has_looked = false;
            // The second check happens after an event.
            endpoint.wait_until(&mut |endpoint| {
                duties.advance(endpoint, operations);
                std::mem::replace(&mut has_looked, true)
            })?;
        }
        Ok(())
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        if self.is_free() {
            return self.endpoint.send(to, data);
        }
        // SAFETY: `data` is borrowed until this returns: then the request is done, or the call has failed for good.
        let data = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let request = self.post_send(to, data, Completion::Local)?;
        self.finish_one(request).map(drop)
    }

    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        if self.is_free() {
            return self.endpoint.receive(selector, buffer);
        }
        // SAFETY: as in `send`.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let request = self.post_receive(selector, room)?;
        self.finish_one(request)
    }

    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        if self.is_free() {
            return self.endpoint.exchange((to, data), (selector, buffer));
        }
        // SAFETY: as in `send`; it is awaited below.
        let room = unsafe { Writable::new(buffer.as_mut_ptr(), buffer.len()) };
        let receive = self.post_receive(selector, room)?;
        let sent = self.send(to, data);
        let received = self.finish_one(receive);
        sent.and(received)
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        _idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let ServingEndpoint { endpoint, operations, duties } = self;
        endpoint.collective(place, call, &mut |endpoint| duties.advance(endpoint, operations))
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        self.endpoint.long_waits()
    }

    fn finish(self, outcome: Result<()>) -> i32 {
        self.endpoint.finish(outcome)
    }
}
