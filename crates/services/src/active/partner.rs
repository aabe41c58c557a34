//! The credits between this rank and another.

use crate::{Error, Result};

/// Maximum number of requests that one rank may have under way to another. Each is at most
/// [`EAGER_BYTES`](contract::EAGER_BYTES) long. The same number of messages in the opposite direction has room for the
/// replies, so no send ever waits for a receive.
pub const CREDITS: u16 = 32;
/// Number of credits that are returned by a message of their own, if no other message carries them.
const RETURNED_AT_ONCE: u16 = CREDITS / 2;

/// The state of another rank.
pub(super) struct Partner {
    /// Number of requests that may still be sent to it.
    credits: u16,
    /// Number of its requests that were handled and not yet reported to it.
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

    /// Returns whether all requests to it have been handled.
    pub(super) fn is_idle(&self) -> bool {
        self.credits == CREDITS
    }

    /// Uses a credit. There must be one.
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

    /// Records that a request of it was handled.
    #[inline]
    pub(super) fn owe(&mut self) {
        self.owed += 1;
    }

    /// Returns whether a message must be sent to return credits.
    #[inline]
    pub(super) fn must_return(&self, at_once: bool) -> bool {
        self.owed >= if at_once { 1 } else { RETURNED_AT_ONCE }
    }

    /// Takes the credits that the next message to it returns.
    #[inline]
    pub(super) fn take_owed(&mut self) -> u16 {
        std::mem::take(&mut self.owed)
    }
}
