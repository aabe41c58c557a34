//! The fabric of this process, which `cornerstone launch` selects, and the connections with processes of other runs.
//!
//! One [`Endpoint`] represents several, so that the other modules are compiled once. The arm of shared memory is the
//! hot one. Contexts between runs are recognised by their number, and their requests by a bit.

mod other_runs;
mod others;
mod pointer;

use contract::{
    Claim, CollectiveCall, Completion, Computer, ContextCollectives, ContextPlace, Destination,
    Endpoint, Envelope, Error, FabricDescription, HostMemory, LongWaits, NetworkMemory, NewContext,
    Readable, Request, Result, Selector, SimulatedTime, Time, TimeSpan, WaitPlace, WaitReports,
    Writable, wait_reports,
};

use launched::rare;

use others::{is_between_runs, is_of_others, of_others, within};
pub(crate) use pointer::Chosen;
use pointer::with;

/// Evaluates an expression with the waits of the fabric, or the other one if it has none.
macro_rules! of_fabric {
    ($chosen:expr, $waits:ident => $body:expr, $other:expr) => {
        with!($chosen, mut endpoint => match endpoint.long_waits() {
            Some($waits) => $body,
            None => $other,
        })
    };
}

/// The waits of a rank with connections to other runs.
impl LongWaits for Chosen {
    fn leave(&mut self) -> Result<()> {
        self.others_mut().leave()?;
        of_fabric!(self, waits => waits.leave(), Ok(()))
    }

    fn any_has_left(&mut self) -> bool {
        self.others().has(fabric_tcp::OtherProcesses::any_has_left)
            || of_fabric!(self, waits => waits.any_has_left(), false)
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        if is_of_others(request) {
            return self.others().has(|processes| processes.cannot_complete(within(request)));
        }
        of_fabric!(self, waits => waits.cannot_complete(request), false)
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        if is_between_runs(selector.context) {
            return self.others().has(|processes| processes.none_will_send(selector));
        }
        of_fabric!(self, waits => waits.none_will_send(selector), false)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        if is_of_others(request) {
            return self.others_mut().expect_mut().give_up_on(within(request));
        }
        with!(self, mut endpoint => contract::give_up_on(endpoint, request))
    }

    fn is_check_due(&mut self, polls: u32) -> bool {
        of_fabric!(self, waits => waits.is_check_due(polls), false)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        if self.poll_others() {
            return Ok(true);
        }
        of_fabric!(self, waits => waits.sleep_a_while(longest), Ok(true))
    }

    fn reports(&mut self) -> Option<&dyn WaitReports> {
        with!(self, mut endpoint => wait_reports(endpoint))
    }

    fn report(&mut self, place: WaitPlace) {
        of_fabric!(self, waits => waits.report(place), ());
    }
}

// SAFETY: only the endpoints behind it access the memory of requests.
unsafe impl Endpoint for Chosen {
    #[inline(always)]
    fn rank(&self) -> usize {
        with!(self, endpoint => endpoint.rank())
    }

    #[inline(always)]
    fn size(&self) -> usize {
        with!(self, endpoint => endpoint.size())
    }

    fn computer(&self) -> Computer<'_> {
        with!(self, endpoint => endpoint.computer())
    }

    fn simulated_time(&mut self) -> Option<&mut dyn SimulatedTime> {
        with!(self, mut endpoint => endpoint.simulated_time())
    }

    fn describe(&self) -> FabricDescription {
        with!(self, endpoint => endpoint.describe())
    }

    #[inline(always)]
    fn now(&self) -> Time {
        with!(self, endpoint => endpoint.now())
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        with!(self, mut endpoint => endpoint.open_context(context))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        if is_between_runs(place.0 << 1) {
            self.others_mut().close_context(place);
            return Ok(());
        }
        with!(self, mut endpoint => endpoint.close_context(place))
    }

    #[inline(always)]
    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        if is_between_runs(to.context) {
            rare();
            return self.others_mut().processes()?.post_send(to, data, until).map(of_others);
        }
        with!(self, mut endpoint => endpoint.post_send(to, data, until))
    }

    #[inline(always)]
    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        if is_between_runs(selector.context) {
            rare();
            return self.others_mut().processes()?.post_receive(selector, room).map(of_others);
        }
        with!(self, mut endpoint => endpoint.post_receive(selector, room))
    }

    #[inline(always)]
    fn is_done(&self, request: Request) -> bool {
        if is_of_others(request) {
            rare();
            return self.others().has(|processes| processes.is_done(within(request)));
        }
        with!(self, endpoint => endpoint.is_done(request))
    }

    #[inline(always)]
    fn envelope(&self, request: Request) -> Envelope {
        if is_of_others(request) {
            rare();
            return self.others().expect().envelope(within(request));
        }
        with!(self, endpoint => endpoint.envelope(request))
    }

    #[inline(always)]
    fn end(&mut self, request: Request) -> Envelope {
        if is_of_others(request) {
            rare();
            return self.others_mut().expect_mut().end(within(request));
        }
        with!(self, mut endpoint => endpoint.end(request))
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        if is_of_others(request) {
            return self.others_mut().expect_mut().cancel_receive(within(request));
        }
        with!(self, mut endpoint => endpoint.cancel_receive(request))
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        if is_between_runs(selector.context) {
            return self.others_mut().processes()?.probe(selector, claim);
        }
        with!(self, mut endpoint => endpoint.probe(selector, claim))
    }

    #[inline(always)]
    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        if self.others().are_any() {
            rare();
            self.poll_others();
        }
        with!(self, mut endpoint => endpoint.progress(wanted))
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        if self.others().are_any() {
            rare();
            return self.wait_for_any(requests);
        }
        with!(self, mut endpoint => endpoint.wait_any(requests))
    }

    #[inline(always)]
    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let others = self.others;
        with!(self, mut endpoint, variant => {
            endpoint.wait_until(&mut |one| {
                let mut this = Chosen::seen_as(one, variant, others);
                this.poll_now_and_then();
                done(&mut this)
            })
        })
    }

    #[inline(always)]
    fn send_at_once(&mut self, to: Destination, data: Readable) -> Result<bool> {
        if is_between_runs(to.context) {
            rare();
            return Ok(false);
        }
        with!(self, mut endpoint => endpoint.send_at_once(to, data))
    }

    #[inline(always)]
    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        if self.others().are_any() {
            rare();
            return self.send_among_others(to, data);
        }
        with!(self, mut endpoint => endpoint.send(to, data))
    }

    #[inline(always)]
    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        if self.others().are_any() {
            rare();
            return self.receive_among_others(selector, buffer);
        }
        with!(self, mut endpoint => endpoint.receive(selector, buffer))
    }

    #[inline(always)]
    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        if is_between_runs(place.0 << 1) {
            rare();
            return None;
        }
        let others = self.others;
        with!(self, mut endpoint, variant => {
            endpoint.collective(place, call, &mut |one| {
                let mut this = Chosen::seen_as(one, variant, others);
                this.poll_now_and_then();
                idle(&mut this);
            })
        })
    }

    fn host_memory(&self) -> Option<HostMemory<'_>> {
        with!(self, endpoint => endpoint.host_memory())
    }

    fn network_memory(&mut self) -> Option<NetworkMemory<'_>> {
        with!(self, mut endpoint => endpoint.network_memory())
    }

    fn context_collectives(&mut self, place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        if is_between_runs(place.0 << 1) {
            rare();
            return None;
        }
        with!(self, mut endpoint => endpoint.context_collectives(place))
    }

    #[inline(always)]
    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        if self.others().are_any() {
            rare();
            return Some(self);
        }
        with!(self, mut endpoint => endpoint.long_waits())
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.end_with_others());
        self.finish_fabric(outcome)
    }
}
