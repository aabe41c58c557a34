//! The contract's endpoint, by requests.

use std::ptr::NonNull;

use contract::{
    AgreedCall, Awaited, ClockQuality, CollectiveCall, Completion, ContextPlace, Destination,
    EAGER_BYTES, Endpoint, Envelope, Error, FabricDescription, NewContext, Readable, Request,
    Result, Selector, Time, TimeSpan, Writable, check_rank,
};

use super::ProxyEndpoint;
use super::collective::out_of_turn;
use crate::ask::Ask;
use crate::clock::VirtualClock;
use crate::line::LONGEST_BYTES;
use crate::reply::{Kind, envelope_of};

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

    fn processor(&self) -> Option<usize> {
        None
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.every_rank_has_a_processor
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

    fn clock(&self) -> ClockQuality {
        ClockQuality {
            resolution: TimeSpan::from_ps(1),
            uncertainty: TimeSpan::ZERO,
            is_virtual: true,
        }
    }

    fn wait_until_time(&mut self, time: Time) {
        // The next call that can return an error returns it.
        let _ = self.call(Ask::WaitUntilTime(time), |_| {});
    }

    fn open_context(&mut self, context: NewContext<'_>) -> Result<ContextPlace> {
        let NewContext { number, members, me, .. } = context;
        let [place, ..] = self.call(Ask::OpenContext { number, me }, |writer| {
            writer.number(members.len() as u64);
            members.iter().for_each(|&member| writer.number(member as u64));
        })?;
        self.contexts.insert(place as u32, (number, members.len()));
        Ok(ContextPlace(place as u32))
    }

    fn close_context(&mut self, place: ContextPlace) -> Result<()> {
        self.contexts.remove(&place.0);
        self.call(Ask::CloseContext(place), |_| {}).map(drop)
    }

    fn post_send(&mut self, to: Destination, data: Readable, until: Completion) -> Result<Request> {
        self.post(to, data, until)
    }

    fn post_receive(&mut self, selector: Selector, room: Writable) -> Result<Request> {
        let bytes = room.bytes();
        let request = self.operations.add_receive(selector, room);
        self.begin(request, Ask::PostReceive { selector, room: bytes, request }, &[])
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
        let cancelled = self.call(Ask::Cancel(request), |_| {}).is_ok_and(|[yes, ..]| yes != 0);
        if cancelled {
            self.operations.forget(request);
        }
        cancelled
    }

    fn probe(&mut self, selector: Selector) -> Result<Option<Envelope>> {
        if self.telling.get() || self.caller.finds_nothing(Some(selector)) {
            return Ok(None);
        }
        self.poll(Ask::Probe(selector), Some(selector)).map(envelope_of)
    }

    fn claim(&mut self, selector: Selector, context: u32, tag: u32) -> Result<Option<Envelope>> {
        if self.telling.get() {
            return Ok(None);
        }
        self.call(Ask::Claim { selector, context, tag }, |_| {}).map(envelope_of)
    }

    fn progress(&mut self) -> Result<()> {
        if self.telling.get() || self.caller.finds_nothing(None) {
            return Ok(());
        }
        self.poll(Ask::Progress, None).map(drop)
    }

    fn test(&mut self, request: Request) -> Result<bool> {
        let is_over = self.telling.get() || self.is_done(request);
        if !is_over && !self.caller.finds_nothing(None) {
            self.poll(Ask::Test(request), None)?;
        }
        Ok(self.is_done(request))
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        let [has_arrived, ..] = self.poll(Ask::SleepAWhile(longest), None)?;
        Ok(has_arrived != 0)
    }

    fn yield_processor(&mut self) -> Result<()> {
        self.poll(Ask::Yield, None).map(drop)
    }

    fn wait_any(&mut self, requests: &[Request]) -> Result<usize> {
        if let Some(index) = requests.iter().position(|&one| self.is_done(one)) {
            return Ok(index);
        }
        let [index, ..] = self.converse(
            Ask::WaitAny,
            |writer| {
                writer.number(requests.len() as u64);
                requests.iter().for_each(|one| writer.number(one.0.into()));
            },
            &mut |_, _, _, _| Err(out_of_turn()),
            &mut |own| {
                let awaited = requests.iter().filter_map(|&one| own.operations.awaited(one));
                awaited.for_each(|one| own.note_awaited(one));
            },
            &mut |_, _| {},
        )?;
        Ok(index as usize)
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        let caller = self.caller.clone();
        let done = std::cell::RefCell::new(done);
        self.converse(
            Ask::WaitUntil,
            |_| {},
            &mut |own, kind, _, _| match kind {
                Kind::Poll => {
                    let found = caller.inside(|| done.borrow_mut()(own));
                    // Once the awaited event has been found, the process needs no more replies in this wait.
                    let polled = Ask::Polled(found);
                    let asked = match found {
                        true => caller.defer(polled, |_| {}),
                        false => caller.ask(polled, |_| {}),
                    };
                    asked.map(|()| found)
                }
                _ => Err(out_of_turn()),
            },
            &mut |own| {
                done.borrow_mut()(own);
            },
            &mut |_, _| {},
        )
        .map(drop)
    }

    fn send(&mut self, to: Destination, data: &[u8]) -> Result<()> {
        let Destination { rank: to, context, tag } = to;
        check_rank(to, self.size)?;
        super::check_length(&self.name, data.len())?;
        let ask = Ask::Send { to, context, tag, bytes: data.len() };
        // The fabric keeps a copy of short data, so their sender does not wait for a receive.
        if data.len() <= EAGER_BYTES {
            return self.ask_ahead(ask, data);
        }
        self.call(ask, |writer| writer.bytes(data)).map(drop)
    }

    fn receive(&mut self, selector: Selector, buffer: &mut [u8]) -> Result<Envelope> {
        let room = buffer.len().min(LONGEST_BYTES);
        self.receive_by(Ask::Receive { selector, room }, &[], buffer)
    }

    fn exchange(
        &mut self,
        (to, data): (Destination, &[u8]),
        (selector, buffer): (Selector, &mut [u8]),
    ) -> Result<Envelope> {
        super::check_length(&self.name, data.len())?;
        let room = buffer.len().min(LONGEST_BYTES);
        let Destination { rank: to, context, tag } = to;
        self.receive_by(Ask::Exchange { to, context, tag, selector, room }, data, buffer)
    }

    fn collective(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let is_passed = self.sees_collectives && call.collective.has_plans();
        if is_passed { self.carry_out(place, call, idle) } else { None }
    }

    fn announce_by_messages(&mut self, place: ContextPlace, call: AgreedCall) -> u32 {
        // The next call that can return an error returns it.
        let _ = self.ask_ahead(Ask::Announce { place, call }, &[]);
        0
    }

    unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        if let Some(seat) = self.caller.seat() {
            // SAFETY: our caller's promise; the memory came from there.
            unsafe { seat.release(memory, bytes) };
        }
    }

    fn leave(&mut self) -> Result<()> {
        self.call(Ask::Leave, |_| {}).map(drop)
    }

    fn any_has_left(&self) -> bool {
        self.telling.get() || self.caller.any_has_left()
    }

    fn is_hopeless(&self, request: Request) -> bool {
        if self.telling.get() {
            if let Some(awaited) = self.operations.awaited(request) {
                self.note_awaited(awaited);
            }
            return false;
        }
        self.ask(Ask::IsHopeless(request)).is_ok_and(|[yes, ..]| yes != 0)
    }

    fn none_will_send(&self, selector: Selector) -> bool {
        if self.telling.get() {
            self.note_awaited(Awaited::Message(selector));
            return false;
        }
        self.ask(Ask::NoneWillSend(selector)).is_ok_and(|[yes, ..]| yes != 0)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        match self.call(Ask::GiveUpOn(request), |_| {}) {
            Ok(_) => out_of_turn(),
            Err(error) => error,
        }
    }

    fn finish(mut self, outcome: Result<()>) -> i32 {
        // When this is over, the program's clock is real again.
        let clock = self.clock.take();
        clock.iter().for_each(VirtualClock::stop);
        let why = outcome.as_ref().err().map(ToString::to_string);
        let uncounted_ns = self.caller.uncounted_ns();
        let ask = Ask::Finish { failed: why.is_some(), uncounted_ns };
        let Some(why) = why else {
            let told = self.call(ask, |writer| writer.bytes(&[])).map(drop);
            return match self.caller.seat() {
                Some(seat) => seat.finish(told),
                None => i32::from(told.is_err()),
            };
        };
        // The failure must be reported to the launcher first. Other ranks may fail because of it as soon as the other
        // end has the report, and must not be reported as the first.
        let status = self.caller.seat().map_or(1, |seat| seat.finish(outcome));
        let _ = self.call(ask, |writer| writer.bytes(why.as_bytes()));
        status
    }
}

impl ProxyEndpoint {
    /// Receives a message, and waits for it, with data that are sent at the same time.
    fn receive_by(&mut self, ask: Ask, data: &[u8], buffer: &mut [u8]) -> Result<Envelope> {
        let envelope = self.caller.call(
            ask,
            |writer| writer.bytes(data),
            |head, mut reader| {
                let data = reader.bytes();
                let kept = data.len().min(buffer.len());
                buffer[..kept].copy_from_slice(&data[..kept]);
                envelope_of(head.values)
            },
        )?;
        let envelope = envelope.ok_or_else(out_of_turn)?;
        Ok(Envelope { room: buffer.len(), ..envelope })
    }
}
