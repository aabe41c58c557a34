//! The credits between this rank and another.

use crate::{Error, Result};

/// The maximum of requests that one rank may have under way to another. Each is at most
/// [`EAGER_BYTES`](contract::EAGER_BYTES) long, and has room for its reply in the same number of messages the other
/// way, so that no send ever waits for a receive.
pub const CREDITS: u16 = 32;
/// So many credits are returned by a message of their own, if no other message takes them along.
const RETURNED_AT_ONCE: u16 = CREDITS / 2;

/// The state of another rank.
pub(super) struct Partner {
    /// Requests that may still be sent to it.
    credits: u16,
    /// Its requests that were handled and not yet reported to it.
    owed: u16,
    pub(super) segment_bytes: u64,
}

impl Partner {
    pub(super) fn new(segment_bytes: u64) -> Self {
        Partner { credits: CREDITS, owed: 0, segment_bytes }
    }

    #[inline]
    pub(super) fn may_send(&self) -> bool {
        self.credits > 0
    }

    /// Whether all requests to it have been handled.
    pub(super) fn is_idle(&self) -> bool {
        self.credits == CREDITS
    }

    /// Uses a credit, which there must be.
    #[inline]
    pub(super) fn spend(&mut self) {
        self.credits -= 1;
    }

    /// Takes back credits that `from`, this partner, returns.
    #[inline]
    pub(super) fn earn(&mut self, from: usize, credits: u16) -> Result<()> {
        if credits > CREDITS - self.credits {
            return Err(Error::Malformed {
                from,
                what: "it returns more credits than it got".into(),
            });
        }
        self.credits += credits;
        Ok(())
    }

    /// Notes that a request of it was handled.
    #[inline]
    pub(super) fn owe(&mut self) {
        self.owed += 1;
    }

    /// Whether a message should be sent for the sake of the credits.
    #[inline]
    pub(super) fn must_return(&self, at_once: bool) -> bool {
        self.owed >= if at_once { 1 } else { RETURNED_AT_ONCE }
    }

    /// The credits that the next message to it returns.
    #[inline]
    pub(super) fn take_owed(&mut self) -> u16 {
        std::mem::take(&mut self.owed)
    }
}
