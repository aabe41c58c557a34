//! The reports of a long wait to the launcher, if that is on this host.
//!
//! A wait knows its end by a function. While the seat [notes](launcher::Seat::is_noting_waits) what this rank waits for,
//! that function is called once more and checks for each request that it waits for whether it can still complete. These
//! requests are noted.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use contract::{
    Awaited, Envelope, Error, LongWaits, Request, Result, Selector, TimeSpan, WaitPlace,
    WaitReports,
};
use launcher::{Backoff, PollState, Seat};

use crate::transfer::Direction;
use crate::{MessageEngine, Messages, Transport};

impl<T: Transport> MessageEngine<T> {
    #[inline]
    fn seat(&self) -> Option<&Seat> {
        self.transport.seat()
    }

    /// Returns whether the poll in progress notes what this rank waits for, because the launcher asks.
    #[inline]
    pub fn is_noting_waits(&self) -> bool {
        self.seat().is_some_and(Seat::is_noting_waits)
    }

    /// Notes something that this rank waits for, if the launcher asks.
    #[inline]
    pub fn note_awaited(&self, awaited: impl FnOnce() -> Awaited) {
        if let Some(seat) = self.seat() {
            seat.note_awaited(awaited);
        }
    }

    /// As [`note_awaited`](MessageEngine::note_awaited), for a transfer in progress.
    #[inline]
    pub fn note_request(&self, request: Request) {
        if self.is_noting_waits()
            && let Some(awaited) = self.messages.awaited_by(request)
        {
            self.note_awaited(|| awaited);
        }
    }

    /// As [`note_awaited`](MessageEngine::note_awaited), for a message that is probed for.
    #[inline]
    pub fn note_probe(&self, selector: Selector) {
        self.note_awaited(|| Awaited::Message(selector));
    }

    /// Prepares for the poll whose result [`report_wait`](MessageEngine::report_wait) reports.
    pub(crate) fn begin_report(&mut self) {
        self.seat().into_iter().for_each(Seat::begin_wait_report);
    }

    /// Reports a wait for requests after an idle poll.
    #[cold]
    pub(crate) fn report_wait_for(&mut self, requests: &[Request], backoff: &mut Backoff) {
        self.begin_report();
        backoff.note_reported();
        requests.iter().for_each(|&request| self.note_request(request));
        self.report_wait(WaitPlace::ALONE);
    }

    /// Reports that a poll for everything was idle, and answers what this rank waits for.
    pub fn report_wait(&mut self, place: WaitPlace) {
        if let Some(seat) = self.seat() {
            seat.report_wait(place, self.poll_state(), || self.unexpected());
        }
    }

    /// Ends the reports of a wait, if it has made any.
    #[inline]
    pub(crate) fn end_reports(&self, backoff: &Backoff) {
        if backoff.is_reported() {
            self.seat().into_iter().for_each(Seat::end_wait_reports);
        }
    }

    /// Returns the messages that no receive matches.
    pub fn unexpected(&self) -> Vec<Envelope> {
        self.messages.unexpected.envelopes().copied().collect()
    }

    /// Returns the state after an idle poll. Its number changes whenever anything of this rank has moved: a message,
    /// a request, a queue or a collective.
    pub fn poll_state(&self) -> PollState {
        let of_transport = self.transport.poll_state();
        let mut hasher = DefaultHasher::new();
        (of_transport.state, self.messages.moves).hash(&mut hasher);
        self.messages.posted.hash_into(&mut hasher);
        for envelope in self.messages.unexpected.envelopes() {
            (envelope.context, envelope.source, envelope.tag, envelope.bytes).hash(&mut hasher);
        }
        self.messages.transfers.hash_into(&mut hasher);
        PollState { state: hasher.finish(), ..of_transport }
    }
}

impl<T: Transport> LongWaits for MessageEngine<T> {
    fn leave(&mut self) -> Result<()> {
        MessageEngine::leave(self)
    }

    fn any_has_left(&mut self) -> bool {
        MessageEngine::any_has_left(self)
    }

    fn cannot_complete(&mut self, request: Request) -> bool {
        self.note_request(request);
        MessageEngine::cannot_complete(self, request)
    }

    fn none_will_send(&mut self, selector: Selector) -> bool {
        self.note_probe(selector);
        MessageEngine::none_will_send(self, &selector)
    }

    fn give_up_on(&mut self, request: Request) -> Error {
        MessageEngine::give_up_on(self, request)
    }

    fn is_check_due(&mut self, polls: u32) -> bool {
        self.is_liveness_check_due(polls)
    }

    fn sleep_a_while(&mut self, longest: TimeSpan) -> Result<bool> {
        MessageEngine::sleep_a_while(self, Duration::from_nanos(longest.as_ps() / 1000))
    }

    fn reports(&mut self) -> Option<&dyn WaitReports> {
        self.seat().map(|seat| seat as _)
    }

    fn report(&mut self, place: WaitPlace) {
        self.report_wait(place);
    }
}

impl Messages {
    /// Returns whether this rank has declared that it sends and receives no messages of its own any more.
    pub fn has_left(&self) -> bool {
        self.has_left
    }

    /// Returns what the message of a transfer that is not done waits for.
    pub fn awaited_by(&self, request: Request) -> Option<Awaited> {
        let transfer = &self.transfers[request];
        match transfer.direction {
            _ if transfer.done => None,
            Direction::Send { to } => {
                Some(Awaited::Receive { to: to as usize, envelope: transfer.envelope })
            }
            Direction::Receive(_) if transfer.is_matched() => {
                Some(Awaited::Data(transfer.envelope))
            }
            Direction::Receive(selector) => Some(Awaited::Message(selector)),
            Direction::Access { .. } => None,
        }
    }
}
