//! Reports of a long wait to the launcher, if that is on the same host.

use contract::{Awaited, Envelope, Request, Selector, WaitPlace};
use launcher::{PollState, Seat};

use super::operation::Operation;
use super::{Connection, Engine};

impl Engine {
    /// Returns whether the poll in progress notes what this rank waits for, because the launcher asks.
    pub(crate) fn is_noting_waits(&self) -> bool {
        self.supervision.seat().is_some_and(Seat::is_noting_waits)
    }

    /// Notes an operation that this rank waits for, if the launcher asks.
    pub(crate) fn note_request(&self, request: Request) {
        if let Some(seat) = self.supervision.seat()
            && !self.is_done(request)
        {
            seat.note_awaited(|| self.awaited_by(request));
        }
    }

    /// Returns what an operation that is not done waits for.
    pub(crate) fn awaited_by(&self, request: Request) -> Awaited {
        match self.operations.get(request) {
            Operation::Send(send) => Awaited::Receive { to: send.to, envelope: send.envelope },
            Operation::Receive(receive) => match receive.envelope {
                Some(envelope) => Awaited::Data(envelope),
                None => Awaited::Message(receive.selector),
            },
        }
    }

    /// Notes a message that is probed for, if the launcher asks.
    pub(crate) fn note_probe(&self, selector: Selector) {
        if let Some(seat) = self.supervision.seat() {
            seat.note_awaited(|| Awaited::Message(selector));
        }
    }

    /// Reports that a sleep for everything has run out.
    pub(crate) fn report_wait(&mut self, place: WaitPlace) {
        if let Some(seat) = self.supervision.seat() {
            seat.report_wait(place, self.poll_state(), || self.unexpected());
        }
    }

    /// Returns the state after an idle poll.
    pub(crate) fn poll_state(&self) -> PollState {
        let connections = || self.peers.iter().flatten();
        let sum = |index: usize| connections().map(|one| one.traffic[index]).sum();
        let queued = connections().filter(|one| Connection::has_outgoing(one)).count() as u64;
        let (receives, messages) = self.matching.waiting();
        let counts = (receives as u64) << 20 ^ (messages as u64) << 40 ^ queued << 60;
        PollState {
            state: self.activity ^ counts,
            sent: sum(0),
            received: sum(1),
            may_end_otherwise: false,
        }
    }

    /// Returns the messages that no receive matches.
    pub(crate) fn unexpected(&self) -> Vec<Envelope> {
        self.matching.unexpected().copied().collect()
    }
}
