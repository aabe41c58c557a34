//! Operations for a fabric that is composed of this one, for the ranks of a host, and of another between hosts.

use std::time::Duration;

use contract::{Envelope, Error, Request};
use engine::Transport;
use launcher::{PollState, Seat};

use super::ShmEndpoint;
use crate::team::Team;

impl ShmEndpoint {
    /// Returns this rank's seat mutably.
    pub fn seat_mut(&mut self) -> &mut Seat {
        self.engine.transport_mut().seat_mut()
    }

    /// Ends the wait in progress, and every later call, with an error of the fabric that this one is a part of.
    pub fn fail(&mut self, error: Error) {
        self.engine.fail(error);
    }

    /// Sets the ranks that errors name instead of this fabric's, by the latter.
    pub fn name_ranks(&mut self, names: Vec<usize>) {
        self.engine.parts_mut().0.name_ranks(names);
    }

    /// Declares that the fabric which this one is a part of contributes to each report of a long wait
    /// ([`note_outside`](ShmEndpoint::note_outside)).
    pub fn expect_outside(&mut self) {
        self.engine.expect_outside();
    }

    /// Adds to the report in progress what a poll of that fabric has found, and its unexpected messages, if the poll
    /// [notes](Seat::is_noting_waits) anything.
    pub fn note_outside(&mut self, found: PollState, unexpected: Vec<Envelope>) {
        self.engine.note_outside(found, unexpected);
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.transport_mut().sleep_at_most(limit);
    }

    /// Sets whether every rank has a processor, if the caller knows that better than the launcher: ranks of another
    /// launch may use some of this host's processors. All ranks make the same call, before any other.
    pub fn set_every_rank_has_a_processor(&mut self, has: bool) {
        self.engine.transport_mut().set_every_rank_has_a_processor(has);
        self.teams[0] = Some(Box::new(Team::world(&self.engine)));
    }

    /// Returns whether a posted receive has matched a message, which need not have arrived completely.
    pub fn is_matched(&self, receive: Request) -> bool {
        self.engine.messages().transfers[receive].is_matched()
    }

    /// Returns whether anything that this rank has sent waits for room.
    pub fn has_queued(&self) -> bool {
        self.engine.transport().has_queued()
    }

    /// Returns whether anything that this rank has sent may still be received.
    pub fn is_sending(&self) -> bool {
        self.engine.is_sending()
    }
}
