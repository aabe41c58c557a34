//! What the message engine requires of a transport, over connections.

use std::time::Duration;

use contract::{Error, Request, Result};
use engine::{CallNote, Messages, PeerState, Poll, Transport, Unexpected};
use launcher::{PollState, Seat};

use super::{Connection, Connections};
use crate::frame::Kind;
use crate::supervision::Supervision;

/// Number of polls of one connection between two polls of all.
const POLLS: u32 = 16;

impl Transport for Connections {
    const COPIED_TO_ITSELF_BYTES: usize = usize::MAX;
    const POSTS_WINDOWS: bool = true;
    const FAILS_WAITS_FOR_ITSELF: bool = true;

    fn size(&self) -> usize {
        self.ranks()
    }

    fn seat(&self) -> Option<&Seat> {
        self.supervision.seat()
    }

    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()> {
        self.queue_send(messages, to, request)
    }

    fn flush(&mut self, messages: &mut Messages, to: usize) -> Result<()> {
        self.write_to(messages, to)
    }

    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        self.receive_unexpected(messages, request, message)
    }

    /// A wait for one request polls its partner most of the time, and all connections from time to time.
    fn poll(&mut self, messages: &mut Messages, poll: Poll) -> Result<()> {
        let partner = match poll {
            Poll::Everything(_) | Poll::Waiting(None) => None,
            Poll::Waiting(Some(request)) => messages.partner(request),
        };
        self.poll_with(messages, partner).map(drop)
    }

    fn activity(&self) -> u64 {
        self.activity
    }

    fn sleep(&mut self, messages: &mut Messages, limit: Duration) -> Result<Option<Duration>> {
        let limit = self.limit_of_sleep(limit);
        let moved = self.poll_sockets(messages, limit)?;
        let tended = self.tend_links(messages)?;
        self.check_supervision(messages)?;
        Ok((!moved && !tended).then_some(limit))
    }

    /// A connection to the process that has started the run is read when it is reported, and after each sleep.
    fn abort_reason(&mut self) -> Option<Error> {
        match &self.supervision {
            Supervision::Local(seat) => seat.abort_reason(),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    fn state(&self, rank: usize) -> PeerState {
        self.state_of(rank)
    }

    fn fault(&self, rank: usize) -> Option<&str> {
        self.peers[rank].as_ref()?.fault.as_deref()
    }

    fn any_has_left(&self) -> bool {
        self.others_left > 0
    }

    fn is_writing(&self, to: usize) -> bool {
        self.peers[to].as_ref().is_some_and(Connection::has_outgoing)
    }

    fn is_one_run(&self) -> bool {
        !self.supervision.is_nobody()
    }

    fn leave(&mut self, messages: &mut Messages) -> Result<()> {
        self.send_to_all(messages, Kind::Leaving)
    }

    fn send_call_note(&mut self, messages: &mut Messages, to: usize, note: CallNote) -> Result<()> {
        self.queue_call_note(messages, to, note)
    }

    fn advance_end(&mut self, messages: &mut Messages) -> Result<bool> {
        if !self.has_said_goodbye {
            self.has_said_goodbye = true;
            self.say_goodbye(messages)?;
        }
        Ok(self.is_through())
    }

    fn close(mut self, outcome: Result<()>) -> i32 {
        self.acknowledge_all();
        // The connections are closed after that, so that the others can learn the reason.
        let Connections { supervision, peers: _peers, .. } = self;
        supervision.finish(outcome)
    }

    fn poll_state(&self) -> PollState {
        let connections = || self.peers.iter().flatten();
        let sum = |index: usize| connections().map(|one| one.traffic[index]).sum();
        let queued = connections().filter(|one| Connection::has_outgoing(one)).count() as u64;
        PollState {
            state: self.activity ^ queued << 60,
            sent: sum(0),
            received: sum(1),
            ..PollState::default()
        }
    }
}

impl Connections {
    /// Fails if the run was aborted.
    ///
    /// # Errors
    /// Why it was aborted.
    pub fn check_supervision(&mut self, messages: &mut Messages) -> Result<()> {
        match self.supervision.abort_reason() {
            None => Ok(()),
            Some(error) => Err(messages.fail(error)),
        }
    }

    /// Polls the partner most of the time, and all connections from time to time. Returns whether anything moved.
    ///
    /// # Errors
    /// Permanent errors.
    pub fn poll_with(&mut self, messages: &mut Messages, partner: Option<usize>) -> Result<bool> {
        self.polls = self.polls.wrapping_add(1);
        let moved = match (partner, self.ranks()) {
            (_, 1) => false,
            // Of two ranks this is the only connection.
            (_, 2) => self.serve(messages, 1 - self.rank)?,
            (Some(partner), _) if !self.polls.is_multiple_of(POLLS) => {
                self.serve(messages, partner)?
            }
            _ => self.poll_sockets(messages, Duration::ZERO)?,
        };
        Ok(moved | self.tend_links(messages)?)
    }

    /// Writes to and reads from one rank. Returns whether anything was read.
    pub(super) fn serve(&mut self, messages: &mut Messages, rank: usize) -> Result<bool> {
        let has_outgoing =
            |this: &Self| this.peers[rank].as_ref().is_some_and(Connection::has_outgoing);
        if has_outgoing(self) {
            self.write_to(messages, rank)?;
        }
        let moved = self.read_from(messages, rank)?;
        // What was read may have been the acknowledgement that a full link has waited for, which no socket reports.
        if self.reconnector.is_some() && has_outgoing(self) {
            self.write_to(messages, rank)?;
        }
        let waits = self.peers[rank].as_ref().is_some_and(Connection::waits_to_write);
        self.may_wait_to_write = waits || self.may_wait_to_write && self.ranks() > 2;
        Ok(moved)
    }
}
