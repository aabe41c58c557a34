//! Implementation of the contract's endpoint.

use std::io::Write;

use contract::{
    Claim, CollectiveCall, Completion, Computer, ComputerServices, ContextPlace, Destination,
    Endpoint, Envelope, FabricDescription, NewContext, OperatingSystem, Readable, Request, Result,
    Selector, Series, Time, Writable,
};

use super::requests::Kind;
use super::{Collectives, MpiEndpoint, collectives};

/// Number of idle polls after which a rank that shares its processor yields it.
const POLLS_BEFORE_YIELDING: u32 = 100;

impl ComputerServices for MpiEndpoint {
    fn operating_system(&self) -> Option<Box<dyn OperatingSystem>> {
        Some(linux::operating_system(self.placement.processor))
    }
}

// SAFETY: MPI uses the memory of a request from its post until its completion, which is recorded when MPI reports it. A
// call that fails has waited for the memory that it had lent itself. After a failure the owner of the endpoint makes no
// call of MPI except MPI_Abort, which ends the process.
unsafe impl Endpoint for MpiEndpoint {
    #[inline]
    fn rank(&self) -> usize {
        self.setting.rank
    }

    #[inline]
    fn size(&self) -> usize {
        self.setting.size
    }

    fn computer(&self) -> Computer<'_> {
        self.placement.computer(&self.clock, self)
    }

    fn describe(&self) -> FabricDescription {
        self.description()
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        self.contexts.open(&self.library, context.number, context.members, self.setting.size)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.contexts.close(&self.library, place)
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        let address = self.address(to)?;
        // SAFETY: the creator of `data` promised that it lasts.
        let handle = unsafe { self.begin_send(address, &data, until) }?;
        let (source, bytes) = (self.setting.rank as u32, data.bytes());
        let envelope = Envelope { context: to.context, source, tag: to.tag, bytes, room: bytes };
        Ok(self.requests.add(handle, Kind::Send(envelope)))
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        if let Some(claimed) = self.find_claimed(selector) {
            return self.post_claimed(claimed, &room);
        }
        let source = self.source(selector)?;
        // SAFETY: the creator of `room` promised that it lasts.
        let handle = unsafe { self.begin_receive(source, &room) }?;
        let kind = Kind::Receive { context: selector.context, room: room.bytes() };
        Ok(self.requests.add(handle, kind))
    }

    #[inline]
    fn is_done(&self, request: Request) -> bool {
        self.requests.get(request).ended.is_some()
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.requests.get(request).envelope()
    }

    fn end(&mut self, request: Request) -> Envelope {
        self.requests.take(request).envelope()
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        self.cancel(request).unwrap_or(false)
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        match claim {
            None => self.probe_for(selector),
            Some(Claim { context, tag }) => self.claim_message(selector, context, tag),
        }
    }

    /// Tests the request that is wanted, or every one that is under way, which also makes the MPI process arrived messages.
    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        if let Some(request) = wanted {
            self.test_for(request);
            return self.check_outcome(request);
        }
        let under_way = self.requests.under_way();
        for &request in &under_way {
            self.test_for(request);
        }
        if under_way.is_empty() {
            self.probe_for(Selector { context: 0, source: None, tag: None })?;
        }
        Ok(())
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        let done = requests.iter().position(|&request| self.is_done(request));
        let index = match (done, requests) {
            (Some(index), _) => index,
            (None, [request]) => {
                self.wait_for(*request);
                0
            }
            (None, several) => self.wait_for_any(several)?,
        };
        self.check_outcome(requests[index]).map(|()| index)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let mut polls = 0;
        while !done(self) {
            self.progress(None)?;
            polls += 1;
            if polls > POLLS_BEFORE_YIELDING && !self.placement.every_rank_has_a_processor {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        self.send_bytes(to, data)
    }

    #[inline]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        self.receive_bytes(selector, buffer)
    }

    fn exchange(
        &mut self,
        send: (Destination, &[u8]),
        receive: (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        self.exchange_bytes(send, receive)
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        _idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let is_mpis = self.setting.collectives == Collectives::Mpi;
        if !is_mpis || !collectives::has_operation(&call) {
            return None;
        }
        Some(self.mpi_collective(place, call))
    }

    fn repeat(&mut self, series: Series<'_>, count: usize) -> Result<Option<Envelope>> {
        match series {
            Series::Send(to, data) => self.send_many(to, data, count).map(|()| None),
            Series::Receive(selector, buffer) => self.receive_many(selector, buffer, count),
        }
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        match outcome.and_then(|()| self.end_in_order()) {
            Ok(()) => 0,
            Err(error) => {
                // The other ranks do not receive the reason, and their own errors come later.
                let rank = self.setting.rank;
                let _ = writeln!(std::io::stderr(), "cornerstone: error: rank {rank}: {error}");
                self.abort();
                1
            }
        }
    }
}
