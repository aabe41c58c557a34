//! What the message engine requires of a transport, over rings.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use contract::{Destination, Envelope, Error, Request, Result, Selector};
use engine::{Messages, PeerState, Poll, Transport, Unexpected};
use launcher::{Backoff, PollState, Seat, State};

use super::limits::EAGER_LIMIT_BYTES;
use super::{Outgoing, Rings};

impl Transport for Rings {
    const COPIED_TO_ITSELF_BYTES: usize = EAGER_LIMIT_BYTES;
    const POSTS_WINDOWS: bool = false;
    const FAILS_WAITS_FOR_ITSELF: bool = false;

    #[inline]
    fn size(&self) -> usize {
        self.ranks()
    }

    #[inline]
    fn seat(&self) -> Option<&Seat> {
        Some(self.segment.seat())
    }

    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()> {
        let to = self.place_of(to as u32);
        self.enqueue(messages, to, Outgoing::Begin(request));
        Ok(())
    }

    #[inline(always)]
    fn send_now(&mut self, messages: &Messages, to: Destination, data: &[u8]) -> bool {
        let rank = self.place_of(to.rank as u32);
        self.push_now(messages, Destination { rank, ..to }, data)
    }

    #[inline]
    fn receive_now(
        &mut self,
        messages: &Messages,
        selector: &Selector,
        buffer: &mut [u8],
    ) -> Option<Envelope> {
        self.pop_now(messages, selector, buffer)
    }

    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        self.receive_unexpected(messages, request, message);
        Ok(())
    }

    /// A poll that waits may temporarily leave a message in its ring that no receive accepts.
    #[inline]
    fn poll(&mut self, messages: &mut Messages, poll: Poll) -> Result<()> {
        let wanted = match poll {
            Poll::Everything(wanted) => {
                self.may_defer_copy = false;
                wanted
            }
            Poll::Waiting(wanted) => {
                self.may_defer_copy = true;
                self.idle_polls = self.idle_polls.saturating_add(1);
                wanted
            }
        };
        self.move_messages(messages, wanted);
        Ok(())
    }

    fn take_moved(&mut self) -> bool {
        let has_moved = self.idle_polls == 0;
        self.idle_polls = self.idle_polls.max(1);
        has_moved
    }

    #[inline]
    fn backoff(&self, own_processor: bool) -> Backoff {
        Backoff::in_memory(own_processor)
    }

    #[inline(always)]
    fn activity(&self) -> u64 {
        0
    }

    fn note_long_wait(&self) {
        self.leave_shared_processor();
    }

    fn announce_sleep(&self) -> bool {
        self.segment.seat().announce_sleep();
        true
    }

    fn stay_awake(&self) {
        self.segment.seat().stay_awake();
    }

    fn sleep(&mut self, _messages: &mut Messages, limit: Duration) -> Result<Option<Duration>> {
        Ok(self.segment.seat().sleep(limit).then_some(limit))
    }

    #[inline]
    fn abort_reason(&mut self) -> Option<Error> {
        let error = self.segment.seat().abort_reason()?;
        Some(match error {
            Error::RankDied { rank, how } if rank < self.ranks() => {
                Error::RankDied { rank: self.rank_at(rank), how }
            }
            other => other,
        })
    }

    fn check(&mut self, messages: &mut Messages) -> Result<()> {
        self.check_calls(messages)
    }

    fn state(&self, rank: usize) -> PeerState {
        match self.segment.seat().state(self.place_of(rank as u32)) {
            State::Leaving => PeerState::Left,
            State::Finished => PeerState::Ended,
            // The death of a rank aborts the run.
            _ => PeerState::Running,
        }
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.segment.seat().has_any_left()
    }

    fn is_writing(&self, to: usize) -> bool {
        let place = self.place_of(to as u32);
        !self.outbound[place].queue.is_empty() && self.state(to) != PeerState::Ended
    }

    fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    fn leave(&mut self, _messages: &mut Messages) -> Result<()> {
        self.segment.seat().leave();
        Ok(())
    }

    fn advance_end(&mut self, _messages: &mut Messages) -> Result<bool> {
        Ok(true)
    }

    fn close(self, outcome: Result<()>) -> i32 {
        self.segment.seat().finish(outcome)
    }

    fn abandon(&mut self) {
        self.close_co_copies();
    }

    fn poll_state(&self) -> PollState {
        let mut hasher = DefaultHasher::new();
        for inbound in &self.inbound {
            inbound.ring.as_ref().map(|ring| ring.position()).hash(&mut hasher);
        }
        for outbound in &self.outbound {
            let waiting = (outbound.queue.len(), outbound.pending_rts);
            (outbound.ring.position(), waiting).hash(&mut hasher);
        }
        (self.co_copies.len(), self.in_place.len()).hash(&mut hasher);
        PollState { state: hasher.finish(), ..PollState::default() }
    }
}
