//! Which calls a member has made: how many, and its last ones. Others read it only when they have waited for long.

use crate::primitive::{AtomicU64, Ordering};

/// How many of a member's last calls of each kind the others can look up.
const REMEMBERED: usize = 16;

/// How many calls a member has made, as far as it has published: over boards in the high half, by messages in
/// the low half.
///
/// All members make the same calls in the same order, so of two histories one is the other's beginning. If
/// one has more calls of the first kind and the other more of the second, the members have not made the same
/// calls.
#[repr(C, align(64))]
pub(crate) struct History(AtomicU64);

/// A member's last calls of a kind: each one's number in the high half, its call id in the low half.
#[repr(C, align(64))]
pub(crate) struct RecentCalls([AtomicU64; REMEMBERED]);

impl History {
    /// Says how many calls this member has made.
    pub(crate) fn publish(&self, over_boards: u32, by_messages: u32) {
        // Relaxed: nothing else has to be seen with it, and an older history is true as well.
        self.0.store(u64::from(over_boards) << 32 | u64::from(by_messages), Ordering::Relaxed);
    }

    /// Whether this member and one with so many calls cannot have made the same calls.
    pub(crate) fn contradicts(&self, over_boards: u32, by_messages: u32) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let ahead_over_boards = ((word >> 32) as u32).wrapping_sub(over_boards) as i32;
        let ahead_by_messages = (word as u32).wrapping_sub(by_messages) as i32;
        i64::from(ahead_over_boards) * i64::from(ahead_by_messages) < 0
    }
}

impl RecentCalls {
    /// Publishes the id of call `number`, which is not 0.
    pub(crate) fn publish(&self, number: u32, call_id: u32) {
        let word = u64::from(number) << 32 | u64::from(call_id);
        // Release, partner of the acquire in `call_id`: whoever sees the call sees the part that was put before.
        self.0[number as usize % REMEMBERED].store(word, Ordering::Release);
    }

    /// The id of call `number`; none if that has not been made yet, or is too long ago.
    pub(crate) fn call_id(&self, number: u32) -> Option<u32> {
        let word = self.0[number as usize % REMEMBERED].load(Ordering::Acquire);
        ((word >> 32) as u32 == number).then_some(word as u32)
    }
}
