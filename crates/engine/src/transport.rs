//! What the engine requires of a transport.

use std::time::Duration;

use contract::{
    AtomicElement, AtomicElements, Destination, Envelope, Error, OneSidedOperation, RemotePlace,
    Request, Result, Selector,
};
use launcher::{Backoff, PollState, Seat};

use crate::agreement::CallNote;
use crate::matching::Unexpected;
use crate::messages::Messages;

/// The state of another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// It takes part.
    Running,
    /// It starts no messages of its own any more, but still takes part in joint work.
    Left,
    /// It has ended its part.
    Ended,
    /// It is gone without having ended its part, and the run goes on.
    Lost,
}

/// The purpose of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// To see everything that has arrived, until this request has ended.
    Everything(Option<Request>),
    /// As one of many polls of a wait, which is for this request alone if there is one. It may leave for a later poll
    /// what that request does not need.
    Waiting(Option<Request>),
}

/// A way to carry messages between this rank and others. It finds the receive of what arrives in the [`Messages`] of the
/// rank, and adds to their unexpected messages what has none.
///
/// Messages between two ranks arrive in the order of their sends.
pub trait Transport: Sized {
    /// Length of the longest message of a rank to itself that is copied if no receive is posted for it.
    const COPIED_TO_ITSELF_BYTES: usize;

    /// True if a window of receives is faster if all are posted before the first is waited for.
    const POSTS_WINDOWS: bool;

    /// True if a wait for a message of this very rank fails at once. Otherwise the launcher finds that the ranks stand
    /// still, and describes what each of them waits for.
    const FAILS_WAITS_FOR_ITSELF: bool;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Returns this rank's seat, if the launcher of this host has started it.
    fn seat(&self) -> Option<&Seat>;

    // Messages.
    /// Starts the send of a transfer of the table to another rank.
    ///
    /// # Errors
    /// Permanent errors, as of all calls here.
    fn start_send(&mut self, messages: &mut Messages, to: usize, request: Request) -> Result<()>;

    /// Sends what [`start_send`](Transport::start_send) has queued for a rank, so that several short messages leave
    /// together.
    ///
    /// # Errors
    /// As above.
    fn flush(&mut self, _messages: &mut Messages, _to: usize) -> Result<()> {
        Ok(())
    }

    /// Sends a whole message to another rank if that needs no request. Otherwise returns false and has no effect.
    #[inline(always)]
    fn send_now(&mut self, _messages: &Messages, _to: Destination, _data: &[u8]) -> bool {
        false
    }

    /// Receives the next message of a known source, if that needs no request. Otherwise returns `None` and has no effect.
    #[inline(always)]
    fn receive_now(
        &mut self,
        _messages: &Messages,
        _selector: &Selector,
        _buffer: &mut [u8],
    ) -> Option<Envelope> {
        None
    }

    /// Receives an unexpected message of another rank that a new receive has matched.
    ///
    /// # Errors
    /// As above.
    fn accept(
        &mut self,
        messages: &mut Messages,
        request: Request,
        message: Unexpected,
    ) -> Result<()>;

    /// Receives what has arrived, and sends what is queued.
    ///
    /// # Errors
    /// As above.
    fn poll(&mut self, messages: &mut Messages, poll: Poll) -> Result<()>;

    // Waits.
    /// Returns the backoff of a wait of a rank that has a processor to itself, as every other, or shares one.
    #[inline]
    fn backoff(&self, own_processor: bool) -> Backoff {
        Backoff::on_descriptors(own_processor)
    }

    /// Returns a number that changes with everything that has moved, if a wait is to begin anew then.
    fn activity(&self) -> u64;

    /// Returns whether anything has moved since the last such call that [`activity`](Transport::activity) does not show.
    fn take_moved(&mut self) -> bool {
        false
    }

    /// Does what a long wait of a rank with a processor of its own requires.
    fn note_long_wait(&self) {}

    /// Announces that this rank is about to sleep. Returns whether it must poll once more before that.
    #[inline]
    fn announce_sleep(&self) -> bool {
        false
    }

    /// Withdraws the announcement.
    fn stay_awake(&self) {}

    /// Sleeps until something may have arrived, at most for `limit`. Returns the time after which it has woken by itself,
    /// or `None` if something has woken it.
    ///
    /// # Errors
    /// As above.
    fn sleep(&mut self, messages: &mut Messages, limit: Duration) -> Result<Option<Duration>>;

    // Other ranks.
    /// Returns why the run was aborted, if that is known without a system call.
    fn abort_reason(&mut self) -> Option<Error>;

    /// Checks in a long wait what else may make it endless, such as other ranks in another collective.
    ///
    /// # Errors
    /// As above.
    fn check(&mut self, _messages: &mut Messages) -> Result<()> {
        Ok(())
    }

    /// Returns the state of another rank.
    fn state(&self, rank: usize) -> PeerState;

    /// Returns what a lost rank has done that made this rank close the connection to it, or `None` if it has closed it
    /// itself.
    fn fault(&self, _rank: usize) -> Option<&str> {
        None
    }

    /// Returns whether any other rank is no longer [running](PeerState::Running).
    fn any_has_left(&self) -> bool;

    /// Returns whether something is queued for a rank that it may still read.
    fn is_writing(&self, to: usize) -> bool;

    /// Returns whether anything waits for room, for which [`leave`](Transport::leave) waits.
    fn has_queued(&self) -> bool {
        false
    }

    /// Returns whether the loss of one rank ends the run of the others.
    fn is_one_run(&self) -> bool {
        true
    }

    /// Announces to all others that this rank starts no messages of its own any more, behind all that it has sent.
    ///
    /// # Errors
    /// As above.
    fn leave(&mut self, messages: &mut Messages) -> Result<()>;

    /// Tells another rank about a call of this one. A rank that is told gives it to
    /// [`take_call_note`](Messages::take_call_note). A transport whose ranks compare their calls in another way tells
    /// nothing.
    ///
    /// # Errors
    /// As above.
    fn send_call_note(
        &mut self,
        _messages: &mut Messages,
        _to: usize,
        _note: CallNote,
    ) -> Result<()> {
        Ok(())
    }

    // The end.
    /// Advances the end of this rank's part, after [`leave`](Transport::leave) and the end of its sends: announces to all
    /// others that nothing follows, and waits until they have announced it, too. Is called after every poll until it
    /// returns true.
    ///
    /// # Errors
    /// As above.
    fn advance_end(&mut self, messages: &mut Messages) -> Result<bool>;

    /// Reports the outcome of this rank's part, and returns the status that the process should exit with.
    fn close(self, outcome: Result<()>) -> i32;

    /// Keeps others away from memory of requests, because the run has ended for this rank.
    fn abandon(&mut self) {}

    // Other capabilities.
    /// Returns a number for this rank's host, which no other host has.
    fn host(&self) -> u16 {
        0
    }

    /// Returns a number for the host of a rank, if ranks of one host reach each other by a faster path.
    fn host_of(&self, _rank: usize) -> Option<usize> {
        None
    }

    /// Returns the one-sided operations of the network, if it has them.
    fn access(&self) -> Option<&dyn NetworkAccess> {
        None
    }

    /// Returns them mutably.
    fn access_mut(&mut self) -> Option<&mut dyn NetworkAccess> {
        None
    }

    /// Returns the state of this transport after an idle poll, for a report of a long wait.
    fn poll_state(&self) -> PollState;
}

/// The one-sided operations of a transport, as in [`OneSided`](contract::OneSided). An operation is a transfer of the table
/// ([`Transfer::access`](crate::Transfer::access)).
#[allow(missing_docs, unsafe_code)]
pub trait NetworkAccess {
    /// # Safety
    /// As of [`OneSided::register`](contract::OneSided::register).
    unsafe fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace>;

    fn unregister(&mut self, place: RemotePlace);

    fn atomic_elements(&self) -> AtomicElements;

    fn longest_bytes(&self, element: Option<AtomicElement>) -> usize;

    /// # Safety
    /// As of [`OneSided::start`](contract::OneSided::start).
    ///
    /// # Errors
    /// Permanent errors.
    unsafe fn start(
        &mut self,
        messages: &mut Messages,
        to: usize,
        place: (RemotePlace, u64),
        operation: OneSidedOperation,
    ) -> Result<Request>;
}
