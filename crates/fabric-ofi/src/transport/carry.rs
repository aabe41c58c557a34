//! What the message engine requires of a transport, over libfabric.
//!
//! A rank with a processor of its own first spins for a while; other ranks sleep at once. A rank sleeps until the
//! provider's descriptor or a connection becomes readable. A provider without a descriptor is polled between short
//! sleeps.
//!
//! Only the provider knows which messages it has. Each message and word that it accepts is counted, and each that it
//! delivers. If the numbers of all ranks are equal at one moment, no provider has any. What else a provider may still
//! complete by itself is excluded from a proof that ranks wait for ever: sends that it has not completed, although their
//! messages have arrived, and operations on memory of other ranks. Such an operation can only end a wait of the rank that
//! has started it, which has it as incomplete until then. No wait of the rank with the memory depends on what others
//! write there: they ask for locks and announce everything else by messages, and a program that polls its memory does
//! not wait.

use std::os::fd::AsFd;
use std::time::Duration;

use contract::{Error, Request, Result};
use engine::{CallNote, Contents, Messages, NetworkAccess, PeerState, Poll, Transport, Unexpected};
use launcher::{PollState, Seat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{End, Libfabric};

/// Longest sleep at the end of a run, when no descriptor need become readable for the awaited event.
const BRIEF_SLEEP: Duration = Duration::from_millis(2);
/// Number of polls of the provider between two polls of the connections.
const POLLS: u64 = 64;
/// Number of times that a rank yields before it sleeps, where nothing wakes it.
const YIELDS_BEFORE_SLEEP: u32 = 64;
/// The first sleep where nothing wakes it. Each further one lasts twice as long, up to the longest.
const SHORTEST_TIMED_SLEEP: Duration = Duration::from_micros(20);
/// The longest of these.
pub(crate) const LONGEST_TIMED_SLEEP: Duration = Duration::from_millis(1);

impl Transport for Libfabric {
    const COPIED_TO_ITSELF_BYTES: usize = usize::MAX;
    const POSTS_WINDOWS: bool = true;
    const FAILS_WAITS_FOR_ITSELF: bool = true;

    fn size(&self) -> usize {
        self.peers.len()
    }

    fn seat(&self) -> Option<&Seat> {
        self.launched.as_ref().map(|here| &here.seat).or(self.connections.seat())
    }

    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()> {
        let sent = self.send(messages, to, request);
        self.record_failure(messages, sent)
    }

    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()> {
        self.activity += 1;
        match message.contents {
            Contents::Copy(data) => {
                messages.transfers[request].append(&data);
                Ok(())
            }
            Contents::Rts(rts) => {
                let accepted = self.accept_rts(messages, request, rts.request);
                self.record_failure(messages, accepted)
            }
            Contents::Arriving | Contents::Own(_) => unreachable!("no provider adds such messages"),
        }
    }

    fn poll(&mut self, messages: &mut Messages, _poll: Poll) -> Result<()> {
        let polled = self.make_progress(messages);
        self.record_failure(messages, polled)?;
        if self.polls.is_multiple_of(POLLS) { self.check(messages) } else { Ok(()) }
    }

    fn activity(&self) -> u64 {
        self.activity
    }

    fn sleep(&mut self, messages: &mut Messages, limit: Duration) -> Result<Option<Duration>> {
        let limit = if self.end == End::No { limit } else { limit.min(BRIEF_SLEEP) };
        let slept = self.sleep_on_descriptors(limit);
        let slept = self.record_failure(messages, slept)?;
        self.check(messages)?;
        Ok(slept)
    }

    fn abort_reason(&mut self) -> Option<Error> {
        self.connections.abort_reason()
    }

    /// The connections tell of ranks that have died.
    fn check(&mut self, messages: &mut Messages) -> Result<()> {
        let polled = self.connections.poll_with(messages, None).map(drop);
        let checked = polled.and_then(|()| self.connections.check_supervision(messages));
        self.record_failure(messages, checked)
    }

    fn state(&self, rank: usize) -> PeerState {
        self.state_of(rank)
    }

    fn any_has_left(&self) -> bool {
        self.has_any_left()
    }

    /// A message that the provider has as a whole is delivered without a receive.
    fn is_writing(&self, to: usize) -> bool {
        self.peers[to].under_way > 0
    }

    fn leave(&mut self, messages: &mut Messages) -> Result<()> {
        let result = self.announce_leaving(messages);
        self.record_failure(messages, result)
    }

    fn send_call_note(&mut self, messages: &mut Messages, to: usize, note: CallNote) -> Result<()> {
        self.connections.send_call_note(messages, to, note)
    }

    fn advance_end(&mut self, messages: &mut Messages) -> Result<bool> {
        let advanced = self.advance_end_of_messages(messages);
        self.record_failure(messages, advanced)
    }

    fn close(self, outcome: Result<()>) -> i32 {
        let (connections, launched) = self.into_parts();
        // In this order, so that the process that started the run receives this rank's error before its host's.
        let status = connections.close(outcome.clone());
        launched.map_or(status, |launched| status.max(launched.seat.finish(outcome)))
    }

    fn host(&self) -> u16 {
        self.launched.as_ref().map_or(0, |here| here.host)
    }

    fn host_of(&self, rank: usize) -> Option<usize> {
        self.launched.as_ref()?.hosts.get(rank).map(|&host| usize::from(host))
    }

    fn access(&self) -> Option<&dyn NetworkAccess> {
        // Also after a failure, which the operations then return.
        if self.has_access { Some(self) } else { None }
    }

    fn access_mut(&mut self) -> Option<&mut dyn NetworkAccess> {
        if self.has_access { Some(self) } else { None }
    }

    fn abandon(&mut self) {
        self.objects = None;
    }

    fn poll_state(&self) -> PollState {
        let [sent, received] = self.traffic;
        // Another rank may still be about to join over these connections.
        let outer = self.connections.poll_state();
        let may_end_otherwise =
            self.objects.is_none() || self.waits_for_room() || self.slots.has_incomplete();
        PollState {
            state: self.activity ^ outer.state.rotate_left(32),
            sent: sent + outer.sent,
            received: received + outer.received,
            may_end_otherwise,
            ..PollState::default()
        }
    }
}

impl Libfabric {
    fn sleep_on_descriptors(&mut self, limit: Duration) -> Result<Option<Duration>> {
        let limit = if self.waits_for_room() { limit.min(LONGEST_TIMED_SLEEP) } else { limit };
        let sleeps = if self.sleeps.0 == self.activity { self.sleeps.1 } else { 0 };
        self.sleeps = (self.activity, sleeps.saturating_add(1));
        let objects = self.objects()?;
        let (waker, of_provider) = (self.waker.as_fd(), objects.descriptor());
        if let Some(descriptor) = of_provider {
            return Ok(wait_readable(&[descriptor, waker], limit));
        }
        if objects.can_sleep() {
            // Something has already completed.
            return Ok(None);
        }
        let Some(doublings) = sleeps.checked_sub(YIELDS_BEFORE_SLEEP) else {
            std::thread::yield_now();
            return Ok(None);
        };
        let timed = (SHORTEST_TIMED_SLEEP * (1 << doublings.min(6))).min(LONGEST_TIMED_SLEEP);
        Ok(wait_readable(&[waker], limit.min(timed)))
    }
}

/// Sleeps until a descriptor is readable. Returns the limit if it has passed.
fn wait_readable(descriptors: &[std::os::fd::BorrowedFd<'_>], limit: Duration) -> Option<Duration> {
    let time = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    let mut entries: Vec<PollFd<'_>> =
        descriptors.iter().map(|one| PollFd::from_borrowed_fd(*one, PollFlags::IN)).collect();
    // After an interruption, the caller polls again.
    matches!(poll(&mut entries, Some(&time)), Ok(0)).then_some(limit)
}
