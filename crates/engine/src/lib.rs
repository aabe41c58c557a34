//! The message engine: requests, matching, waits, and reports of long waits, once for all transports.
//!
//! A [`Transport`] moves messages between this rank and others: it is told to start a send, it is polled, and it asks
//! the [`Messages`] of the rank which receive a message matches. It matches nothing by itself, and does not wait. An
//! [`MessageEngine`] is the messages of one rank and the transport that carries them. It belongs to one thread.
//!
//! All is generic in the transport, so that the path of a short message through memory stays one function.

#![deny(unsafe_code)]

mod access;
mod agreement;
mod blocking;
mod ending;
mod endpoint;
mod matching;
mod messages;
mod mismatch;
mod posting;
mod reports;
mod transfer;
mod transport;
mod waiting;

use std::time::Duration;

use contract::ContextPlace;

pub use agreement::{CallNote, CallNoteKind};
pub use endpoint::TransportEndpoint;
pub use matching::{Contents, Location, PostedQueue, Rts, Unexpected, UnexpectedQueue};
pub use messages::Messages;

pub use transfer::{Direction, Transfer, Transfers};
pub use transport::{NetworkAccess, PeerState, Poll, Transport};

/// The messages of one rank, and the transport that carries them.
pub struct MessageEngine<T> {
    messages: Messages,
    transport: T,
    /// True if the current wait has slept until a limit. From then on a check at every poll costs little.
    waits_long: bool,
    /// Longest sleep, if something else must be polled.
    longest_sleep: Option<Duration>,
    /// True if every rank has a processor to itself.
    own_processor: bool,
    /// The activity when the program last polled without success.
    rested_at: u64,
}

impl<T> MessageEngine<T> {
    /// Returns the transport.
    #[inline]
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Returns the transport mutably.
    #[inline]
    pub fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Returns the messages.
    #[inline]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Returns the messages and the transport mutably.
    #[inline]
    pub fn parts_mut(&mut self) -> (&mut Messages, &mut T) {
        (&mut self.messages, &mut self.transport)
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.longest_sleep = Some(limit);
    }

    /// Returns whether this rank, as every other, has a processor to itself.
    #[inline]
    pub fn has_own_processor(&self) -> bool {
        self.own_processor
    }

    /// Sets that, once it is known.
    pub fn set_own_processor(&mut self, has: bool) {
        self.own_processor = has;
    }

    /// Returns the engine with another transport, which goes on with the messages of this one.
    pub fn with_transport<U>(self, next: impl FnOnce(T) -> U) -> MessageEngine<U> {
        let next = |transport| Ok::<U, std::convert::Infallible>(next(transport));
        match self.try_with_transport(next) {
            Ok(engine) => engine,
            Err(never) => match never {},
        }
    }

    /// As [`with_transport`](MessageEngine::with_transport), if there can be such a transport.
    ///
    /// # Errors
    /// That of `next`.
    pub fn try_with_transport<U, E>(
        self,
        next: impl FnOnce(T) -> Result<U, E>,
    ) -> Result<MessageEngine<U>, E> {
        let MessageEngine { messages, transport, waits_long, longest_sleep, own_processor, .. } =
            self;
        let (transport, rested_at) = (next(transport)?, 0);
        Ok(MessageEngine {
            messages,
            transport,
            waits_long,
            longest_sleep,
            own_processor,
            rested_at,
        })
    }

    /// Returns the transport, at the end of this rank's part.
    pub fn into_transport(self) -> T {
        self.transport
    }
}

impl<T: Transport> MessageEngine<T> {
    /// Creates the engine of rank `rank`, which has a processor to itself, as every other, or shares one.
    pub fn new(rank: usize, transport: T, own_processor: bool) -> Self {
        let mut messages = Messages::new(rank);
        messages.agreement.open(ContextPlace::WORLD.0, (0..transport.size()).collect());
        MessageEngine {
            messages,
            transport,
            waits_long: false,
            longest_sleep: None,
            own_processor,
            rested_at: 0,
        }
    }

    /// Returns this rank's number.
    #[inline]
    pub fn rank(&self) -> usize {
        self.messages.rank()
    }

    /// Returns the number of ranks.
    #[inline]
    pub fn size(&self) -> usize {
        self.transport.size()
    }

    /// Fails with the error that has ended the run for this rank, if one has: memory of the call that failed may be gone
    /// and must not be accessed.
    ///
    /// # Errors
    /// That error.
    #[inline]
    pub fn check(&self) -> contract::Result<()> {
        self.messages.check()
    }

    /// Ends the run for this rank. Every later call returns the first such error, which is returned.
    #[cold]
    pub fn fail(&mut self, error: contract::Error) -> contract::Error {
        self.transport.abandon();
        self.messages.fail(error)
    }
}
