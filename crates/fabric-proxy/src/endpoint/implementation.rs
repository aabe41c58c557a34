//! The contract's endpoint, by requests.

use contract::{
    AgreedCall, Awaited, Claim, ClockQuality, CollectiveCall, Completion, Computer,
    ContextCollectives, ContextPlace, Destination, EAGER_BYTES, Endpoint, Envelope, Error,
    FabricDescription, HostMemory, LongWaits, NewContext, NoServices, Readable, Request, Result,
    Selector, SimulatedTime, Time, TimeSpan, WaitReports, Work, Writable, check_rank,
};

use super::{ProxyEndpoint, check_length};
use crate::caller::unexpected_reply;
use crate::clock::VirtualClock;
use crate::wire::line::LONGEST_BYTES;
use crate::wire::reply::{ReplyKind, Value};
use crate::wire::request::ProcessRequest;

impl SimulatedTime for ProxyEndpoint {
    fn wait_until_time(&mut self, time: Time) {
        // The next call that can return an error returns it.
        let _ = self.call(&ProcessRequest::WaitUntilTime(time), &[]);
    }

    fn yield_processor(&mut self) -> Result<()> {
        self.poll(&ProcessRequest::Yield, None).map(drop)
    }

    // The program polls and computes in real time, which the other end measures.
    fn skip_idle_polls(&mut self, _time: Time) -> Result<bool> {
        Ok(false)
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    // The other end recognises the messages of collectives by their contexts.
    fn mark_algorithm(&mut self, _begins: bool) {}
}

impl ContextCollectives for ProxyEndpoint {
    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        // The next call that can return an error returns it.
        let _ = self.call_ahead(&ProcessRequest::Announce { place, call }, &[]);
        0
    }
}

impl LongWaits for ProxyEndpoint {
    fn leave(&mut self) -> Result<()> {
        self.call(&ProcessRequest::Leave, &[]).map(drop)
    }

    fn any_has_left(&mut self) -> bool {
        self.is_reporting.get() || self.caller.any_has_left()
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        if self.is_reporting.get() {
            if let Some(awaited) = self.operations.awaited(request) {
                self.note_awaited(awaited);
            }
            return false;
        }
        self.is_true(&ProcessRequest::CannotComplete(request))
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        if self.is_reporting.get() {
            self.note_awaited(Awaited::Message(selector));
            return false;
        }
        self.is_true(&ProcessRequest::NoneWillSend(selector))
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        match self.call(&ProcessRequest::GiveUpOn(request), &[]) {
            Ok(_) => unexpected_reply(),
            Err(error) => error,
        }
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        let has_arrived = self.poll(&ProcessRequest::SleepAWhile(longest), None)?;
        Ok(has_arrived == Value::Flag(true))
    }

    // The process reports its long waits when the launcher asks, in the middle of a request.
    fn reports(&mut self) -> Option<&dyn WaitReports> {
        self.caller.seat().map(|_| &*self as _)
    }
}

// SAFETY: the data of a send are copied into the line when it is posted. The memory of a receive is written when a
// reply reports it as done. No reply does that for an operation that was cancelled or has ended; once a call has failed
// for good there are no more replies.
unsafe impl Endpoint for ProxyEndpoint {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn simulated_time(&mut self) -> Option<&mut dyn SimulatedTime> {
        Some(self)
    }

    fn computer(&self) -> Computer<'_> {
        Computer {
            processor: None,
            every_rank_has_a_processor: self.every_rank_has_a_processor,
            clock: ClockQuality::VIRTUAL,
            services: &NoServices,
        }
    }

    fn describe(&self) -> FabricDescription {
        FabricDescription {
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            ..FabricDescription::default()
        }
    }

    fn now(&self) -> Time {
        // The time of a failed run is irrelevant.
        self.caller.virtual_now().unwrap_or(Time::ZERO)
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        let NewContext { number, members, me, .. } = context;
        let request = ProcessRequest::OpenContext { number, me, members: members.to_vec() };
        let Value::Place(place) = self.call(&request, &[])? else { return Err(unexpected_reply()) };
        self.contexts.insert(place.0, (number, members.len()));
        Ok(place)
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.contexts.remove(&place.0);
        self.call(&ProcessRequest::CloseContext(place), &[]).map(drop)
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.post(to, data, until)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let bytes = room.bytes().min(LONGEST_BYTES);
        let request = self.operations.add_receive(selector, room);
        self.begin(request, &ProcessRequest::PostReceive { selector, room: bytes, request }, &[])
    }

    fn is_done(&self, request: Request) -> bool {
        self.operations.is_done(request)
    }

    fn envelope(&self, request: Request) -> Envelope {
        self.operations.envelope(request)
    }

    /// Ends an operation. The next request reports that to the other end, and no other action of this rank happens
    /// before it.
    fn end(&mut self, request: Request) -> Envelope {
        let envelope = self.operations.envelope(request);
        self.operations.forget(request);
        self.caller.note_ended(request);
        envelope
    }

    fn cancel_receive(&mut self, request: Request) -> bool {
        let cancelled = self.call(&ProcessRequest::Cancel(request), &[]) == Ok(Value::Flag(true));
        if cancelled {
            self.operations.forget(request);
        }
        cancelled
    }

    fn probe(&mut self, selector: Selector, claim: Option<Claim>) -> Result<Option<Envelope>> {
        if self.is_reporting.get() {
            return Ok(None);
        }
        if let Some(Claim { context, tag }) = claim {
            let request = ProcessRequest::Claim { selector, context, tag };
            return self.call(&request, &[]).map(Value::envelope);
        }
        if self.caller.finds_nothing(Some(selector)) {
            return Ok(None);
        }
        self.poll(&ProcessRequest::Probe(selector), Some(selector)).map(Value::envelope)
    }

    fn progress(&mut self, wanted: Option<Request>) -> Result<()> {
        let is_over = self.is_reporting.get() || wanted.is_some_and(|one| self.is_done(one));
        if is_over || self.caller.finds_nothing(None) {
            return Ok(());
        }
        let request = wanted.map_or(ProcessRequest::Progress, ProcessRequest::Test);
        self.poll(&request, None).map(drop)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        if let Some(index) = requests.iter().position(|&one| self.is_done(one)) {
            return Ok(index);
        }
        let called = self.call_with_replies(
            (&ProcessRequest::WaitAny(requests.to_vec()), &[]),
            &mut |_, _, _| Err(unexpected_reply()),
            &mut |own| {
                let awaited = requests.iter().filter_map(|&one| own.operations.awaited(one));
                awaited.for_each(|one| own.note_awaited(one));
            },
            &mut |_| {},
        )?;
        let Some(Value::Index(index)) = called else { return Err(unexpected_reply()) };
        Ok(index)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let caller = self.caller.clone();
        let done = std::cell::RefCell::new(done);
        self.call_with_replies(
            (&ProcessRequest::WaitUntil, &[]),
            &mut |own, kind, _| {
                if *kind != ReplyKind::Poll {
                    return Err(unexpected_reply());
                }
                let found = caller.as_library(|| done.borrow_mut()(own));
                // Once the awaited event has been found, the process needs no more replies in this wait.
                let polled = ProcessRequest::Polled(found);
                let sent = match found {
                    true => caller.defer(&polled, &[]),
                    false => caller.send(&polled, &[]),
                };
                sent.map(|()| found)
            },
            &mut |own| {
                done.borrow_mut()(own);
            },
            &mut |_| {},
        )
        .map(drop)
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        check_rank(to.rank, self.size)?;
        check_length(&self.name, data.len())?;
        // The fabric keeps a copy of short data, so their sender does not wait for a receive.
        if data.len() <= EAGER_BYTES {
            return self.call_ahead(&ProcessRequest::Send(to), data);
        }
        self.call(&ProcessRequest::Send(to), data).map(drop)
    }

    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        let room = buffer.len().min(LONGEST_BYTES);
        self.receive_by(&ProcessRequest::Receive { selector, room }, &[], buffer)
    }

    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        check_length(&self.name, data.len())?;
        let room = buffer.len().min(LONGEST_BYTES);
        self.receive_by(&ProcessRequest::Exchange { to, selector, room }, data, buffer)
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        if call.collective.has_plans() { self.carry_out(place, call, idle) } else { None }
    }

    // Windows use messages.
    fn host_memory(&self) -> Option<HostMemory<'_>> {
        let arenas = self.caller.seat()?;
        Some(HostMemory { arenas, host: 0, is_for_windows: false, copies: None })
    }

    fn context_collectives(&mut self, _place: ContextPlace) -> Option<&mut dyn ContextCollectives> {
        Some(self)
    }

    fn long_waits(&mut self) -> Option<&mut dyn LongWaits> {
        Some(self)
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        // When this is over, the program's clock is real again.
        let clock = self.clock.take();
        clock.iter().for_each(VirtualClock::stop);
        let error = outcome.as_ref().err().map(ToString::to_string);
        let has_failed = error.is_some();
        let finish = ProcessRequest::Finish { error, uncounted_ns: self.caller.uncounted_ns() };
        if !has_failed {
            let finished = self.call(&finish, &[]).map(drop);
            return match self.caller.seat() {
                Some(seat) => seat.finish(finished),
                None => i32::from(finished.is_err()),
            };
        }
        // The failure must be reported to the launcher first. Other ranks may fail because of it as soon as the other
        // end has the report, and must not be reported as the first.
        let status = self.caller.seat().map_or(1, |seat| seat.finish(outcome));
        let _ = self.call(&finish, &[]);
        status
    }
}

impl ProxyEndpoint {
    /// Receives a message, and waits for it, with data that are sent at the same time.
    fn receive_by(
        &mut self,
        request: &ProcessRequest,
        data: &[u8],
        buffer: &mut [u8],
    ) -> Result<Envelope> {
        let envelope = self.caller.call(request, data, |value, _, data| {
            let kept = data.len().min(buffer.len());
            buffer[..kept].copy_from_slice(&data[..kept]);
            value.envelope()
        })?;
        let envelope = envelope.ok_or_else(unexpected_reply)?;
        Ok(Envelope { room: buffer.len(), ..envelope })
    }
}
