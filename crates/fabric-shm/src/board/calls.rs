//! The calls that a member has made: their number and the last ones. Others read them only after a long wait.

use collectives::{AgreedCall, CallId};

use crate::primitive::{AtomicU64, Ordering, fence};

/// Number of a member's last calls of each kind that are kept.
pub(crate) const REMEMBERED: usize = if cfg!(loom) { 2 } else { 16 };

/// Numbers of published calls of a member: over boards in the high half, by messages in the low half.
///
/// All members make the same calls in the same order, so the shorter of two histories is a prefix of the longer one. If
/// one has more calls of the first kind and the other more of the second, the members have made different calls.
#[repr(C, align(64))]
pub(crate) struct History(AtomicU64);

/// A member's last calls of one kind, each as its number in the high half and its call id in the low half.
#[repr(C, align(64))]
pub(crate) struct RecentCalls([AtomicU64; REMEMBERED]);

/// A member's last calls by messages, with their lengths: those over boards lie beside the parts.
#[repr(C, align(64))]
pub(crate) struct RecentCallsByMessages {
    calls: RecentCalls,
    bytes: [AtomicU64; REMEMBERED],
}

impl History {
    /// Publishes the numbers of calls of this member.
    #[inline]
    pub(crate) fn publish(&self, over_boards: u32, by_messages: u32) {
        // Relaxed: no other memory depends on it, and an older history is still correct.
        self.0.store(u64::from(over_boards) << 32 | u64::from(by_messages), Ordering::Relaxed);
    }

    /// Returns whether this member and one with these numbers cannot have made the same calls.
    pub(crate) fn contradicts(&self, over_boards: u32, by_messages: u32) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let ahead_over_boards = ((word >> 32) as u32).wrapping_sub(over_boards) as i32;
        let ahead_by_messages = (word as u32).wrapping_sub(by_messages) as i32;
        i64::from(ahead_over_boards) * i64::from(ahead_by_messages) < 0
    }
}

impl RecentCalls {
    /// Publishes the id of call `number`, which must not be 0.
    #[inline]
    pub(crate) fn publish(&self, number: u32, call_id: CallId) {
        let word = u64::from(number) << 32 | u64::from(call_id.bits());
        // Release, partner of the acquire in `call_id`: a reader of the call sees the part that was put before.
        self.0[number as usize % REMEMBERED].store(word, Ordering::Release);
    }

    /// Returns the id of call `number`, or `None` if it has not been made yet or is no longer kept.
    pub(crate) fn call_id(&self, number: u32) -> Option<CallId> {
        let word = self.0[number as usize % REMEMBERED].load(Ordering::Acquire);
        ((word >> 32) as u32 == number).then_some(CallId::from_bits(word as u32))
    }
}

impl RecentCallsByMessages {
    /// Publishes call `number`, which must not be 0.
    pub(crate) fn publish(&self, number: u32, call: AgreedCall) {
        let place = number as usize % REMEMBERED;
        self.calls.0[place].store(0, Ordering::Relaxed);
        // Partner of the fence in `call`: a reader of the new length sees that the place holds no call, or the new one.
        fence(Ordering::Release);
        self.bytes[place].store(call.bytes as u64, Ordering::Relaxed);
        self.calls.publish(number, call.id);
    }

    /// Returns call `number`, or `None` if it has not been made yet or is no longer kept.
    pub(crate) fn call(&self, number: u32) -> Option<AgreedCall> {
        let id = self.calls.call_id(number)?;
        let bytes = self.bytes[number as usize % REMEMBERED].load(Ordering::Relaxed) as usize;
        // Partner of the fence in `publish`: the length of another call is not taken for this one's.
        fence(Ordering::Acquire);
        (self.calls.call_id(number) == Some(id)).then_some(AgreedCall { id, bytes })
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    History { 0 }
    RecentCalls { 0 }
    RecentCallsByMessages { calls, bytes }
}
