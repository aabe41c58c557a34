//! The route of each message: the rings of shared memory between ranks of a host, the outer transport otherwise.
//!
//! There is one matching for both, so that a receive from any rank is one receive. A wait polls memory and, less often,
//! the outer transport, because a poll of that takes as long as many of memory. A sleeping rank sleeps on a bell, which
//! ranks of its host ring, and on a descriptor of the outer transport.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use contract::{Destination, Envelope, Error, Request, Result, Selector};
use engine::{CallNote, Messages, PeerState, Poll, Transport, Unexpected};
use fabric_shm::Rings;
use launcher::{Backoff, PollState, Seat};

use crate::outer::Outer;
use crate::places::Places;

/// Number of polls of the rings for each poll of the outer transport, if something may arrive from either and every rank
/// has a processor.
const EVERY_OF_BOTH: u32 = 4;
/// The same if something must arrive from a rank of this host.
const EVERY_OF_RINGS: u32 = 64;
/// Number of polls at the beginning of a wait that leave the outer transport out if ranks share processors: before this
/// rank has yielded, little can have changed since it last polled.
const POLLS_OF_RINGS_FIRST: u32 = 2;

/// The transports of one rank, and which of them leads to which rank.
pub(crate) struct Routes {
    pub(crate) rings: Rings,
    pub(crate) outer: Outer,
    pub(crate) places: Places,
    polls: u32,
}

impl Routes {
    pub(crate) fn new(rings: Rings, outer: Outer, places: Places) -> Self {
        Routes { rings, outer, places, polls: 0 }
    }

    /// Returns how many polls of the rings there are for each poll of the outer transport in a wait.
    fn interval(&self, messages: &Messages, wanted: Option<Request>) -> u32 {
        let is_early = self.rings.idle_polls() <= POLLS_OF_RINGS_FIRST;
        match wanted.and_then(|request| messages.partner(request)) {
            _ if !self.rings.has_own_processor() => {
                if is_early {
                    EVERY_OF_RINGS
                } else {
                    1
                }
            }
            None => EVERY_OF_BOTH,
            Some(partner) if self.places.is_here(partner) => EVERY_OF_RINGS,
            Some(_) => 1,
        }
    }
}

impl Transport for Routes {
    const COPIED_TO_ITSELF_BYTES: usize = Rings::COPIED_TO_ITSELF_BYTES;
    const POSTS_WINDOWS: bool = false;
    const FAILS_WAITS_FOR_ITSELF: bool = false;

    fn size(&self) -> usize {
        self.outer.size()
    }

    #[inline]
    fn seat(&self) -> Option<&Seat> {
        Some(self.rings.seat())
    }

    #[inline]
    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()> {
        match self.places.is_here(to) {
            true => self.rings.start_send(messages, to, request),
            false => self.outer.start_send(messages, to, request),
        }
    }

    fn flush(&mut self, messages: &mut Messages, to: usize) -> Result<()> {
        if self.places.is_here(to) { Ok(()) } else { self.outer.flush(messages, to) }
    }

    #[inline(always)]
    fn send_now(&mut self, messages: &Messages, to: Destination, data: &[u8]) -> bool {
        self.places.is_here(to.rank) && self.rings.send_now(messages, to, data)
    }

    #[inline]
    fn receive_now(
        &mut self,
        messages: &Messages,
        selector: &Selector,
        buffer: &mut [u8],
    ) -> Option<Envelope> {
        let is_here = self.places.is_here(selector.source? as usize);
        if is_here { self.rings.receive_now(messages, selector, buffer) } else { None }
    }

    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        match self.places.is_here(message.envelope.source as usize) {
            true => self.rings.accept(messages, request, message),
            false => self.outer.accept(messages, request, message),
        }
    }

    fn poll(&mut self, messages: &mut Messages, poll: Poll) -> Result<()> {
        self.rings.poll(messages, poll)?;
        messages.check()?;
        match poll {
            Poll::Waiting(wanted) if !self.rings.seat().is_reporting() => {
                self.polls = self.polls.wrapping_add(1);
                match self.polls.is_multiple_of(self.interval(messages, wanted)) {
                    true => self.outer.poll(messages, poll),
                    false => Ok(()),
                }
            }
            _ => self.outer.poll(messages, Poll::Everything(None)),
        }
    }

    fn take_moved(&mut self) -> bool {
        self.rings.take_moved()
    }

    fn backoff(&self, own_processor: bool) -> Backoff {
        self.rings.backoff(own_processor)
    }

    fn activity(&self) -> u64 {
        self.outer.activity()
    }

    fn note_long_wait(&self) {
        self.rings.note_long_wait();
    }

    fn announce_sleep(&self) -> bool {
        self.rings.announce_sleep()
    }

    fn stay_awake(&self) {
        self.rings.stay_awake();
    }

    fn sleep(&mut self, messages: &mut Messages, limit: Duration) -> Result<Option<Duration>> {
        let limit = limit.min(self.outer.sleep_limit());
        self.rings.sleep(messages, limit)
    }

    #[inline]
    fn abort_reason(&mut self) -> Option<Error> {
        self.rings.abort_reason().or_else(|| self.outer.abort_reason())
    }

    fn check(&mut self, messages: &mut Messages) -> Result<()> {
        self.rings.check(messages)?;
        self.outer.check(messages)
    }

    fn state(&self, rank: usize) -> PeerState {
        if self.places.is_here(rank) { self.rings.state(rank) } else { self.outer.state(rank) }
    }

    #[inline]
    fn any_has_left(&self) -> bool {
        self.rings.any_has_left() || self.outer.any_has_left()
    }

    fn is_writing(&self, to: usize) -> bool {
        if self.places.is_here(to) { self.rings.is_writing(to) } else { self.outer.is_writing(to) }
    }

    fn has_queued(&self) -> bool {
        self.rings.has_queued()
    }

    fn leave(&mut self, messages: &mut Messages) -> Result<()> {
        self.rings.leave(messages)?;
        self.outer.leave(messages)
    }

    fn send_call_note(&mut self, messages: &mut Messages, to: usize, note: CallNote) -> Result<()> {
        self.outer.send_call_note(messages, to, note)
    }

    fn advance_end(&mut self, messages: &mut Messages) -> Result<bool> {
        self.outer.advance_end(messages)
    }

    fn close(self, outcome: Result<()>) -> i32 {
        // In this order: whoever started the run should hear from the rank itself before it hears from its host.
        let status = self.outer.close(outcome.clone());
        status.max(self.rings.close(outcome))
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        self.places.host_of(rank)
    }

    fn abandon(&mut self) {
        self.rings.abandon();
        self.outer.abandon();
    }

    fn poll_state(&self) -> PollState {
        let (rings, outer) = (self.rings.poll_state(), self.outer.poll_state());
        let mut hasher = DefaultHasher::new();
        (rings.state, outer.state).hash(&mut hasher);
        PollState { state: hasher.finish(), ..outer }
    }
}
