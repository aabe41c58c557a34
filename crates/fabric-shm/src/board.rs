//! What one member of a team shows the others in a collective, and how they know when it may be read and written.
//!
//! A collective goes in steps, which all members count alike. In a step a member puts its part into the slot that the
//! step's number chooses, and the others read it there. A slot is used again [`SLOTS`] steps later, once every member has
//! said that it has ended the step that used it before. Parts of up to [`SHORT_BYTES`] lie in the line of the number itself,
//! so that they move one line from core to core.

use crate::primitive::{AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// How many steps a member may be ahead of the slowest. Where ranks share processors, each switch between them serves half as
/// many. Together the slots fill more than a first cache or two: a slot that is used again too soon still lies in the reader's,
/// and what has just been written in the writer's, from where a line takes longer than from the cache that both share (1 MiB
/// between two processors of a Zen 3, in pieces of 32 KiB: 17 GB/s by 8 slots, 24 by 16, 25 by 32).
pub(crate) const SLOTS: usize = 16;
/// The longest part that one slot holds. A block of 1 MiB has to fit all slots but one: the slot of the collective before, which
/// some members may not have ended, is not asked for then, and whoever only gives something, as in a gather, leaves without waiting
/// for them (gather of 1 MiB, 8 ranks on 2 processors: 118 us by slots of 64 KiB, 45 by these; 4 ranks 54 and 41).
pub(crate) const SLOT_BYTES: usize = 72 << 10;
/// The longest part that lies in the line of its number.
pub(crate) const SHORT_BYTES: usize = 48;
/// How many of a member's last calls of each kind the others can look up.
const REMEMBERED: usize = 16;
/// A board with the slots' bytes behind it.
pub(crate) const BOARD_BYTES: usize = size_of::<Board>() + SLOTS * SLOT_BYTES;

/// One member's lines; fresh memory of zeros is a board of which nothing was used.
#[repr(C, align(4096))]
pub(crate) struct Board {
    pub(crate) progress: Progress,
    /// How many members sleep until a slot may be used again. Only the first member's board counts them.
    pub(crate) starved: Starved,
    /// How many members have left the team, and look at this board no more.
    pub(crate) left: Left,
    /// Whether a member has found that the members are not in the same step. Only the first member's board says so.
    pub(crate) broken: Broken,
    pub(crate) history: History,
    /// The calls by messages.
    pub(crate) recent_past: Recent,
    /// The calls through the team, once this member has put what it puts first.
    pub(crate) recent_through: Recent,
    /// Only the first member's board is worked with; of shares, that of the first member on each processor.
    pub(crate) works: [Work; SLOTS],
    pub(crate) heads: [Head; SLOTS],
}

/// The last step that a member has ended.
#[repr(C, align(64))]
pub(crate) struct Progress(AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Starved(pub(crate) AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Left(AtomicU32);

/// Set once and for all.
#[repr(C, align(64))]
pub(crate) struct Broken(AtomicU32);

/// How many calls a member has made, as far as it has said so: through the team in the high half, past it by messages in the
/// low half.
///
/// All members make the same calls in the same order, so of two histories one is the other's beginning. If one has more
/// calls of the first kind and the other more of the second, they have not made the same calls.
#[repr(C, align(64))]
pub(crate) struct History(AtomicU64);

/// A member's last calls of a kind: each one's number in the high half, and what it was in the low half.
#[repr(C, align(64))]
pub(crate) struct Recent([AtomicU64; REMEMBERED]);

/// What the members count together in a step.
#[repr(C)]
pub(crate) struct Work {
    /// Members that have put their part, where they share processors: the last to come wakes the others.
    pub(crate) arrived: Tally,
    /// Chunks of a reduction that somebody has taken on; where it goes in shares, members of a processor that have come.
    pub(crate) taken: Tally,
    /// Chunks of a reduction that are done; where it goes in shares, who has combined the processor's; of a long scatter, on each
    /// member's board, whose block is there.
    pub(crate) done: Tally,
}

/// A count that belongs to one step: the step's number in the high half, the count in the low half. Whoever counts first in
/// a step begins anew, so nobody need ever reset it.
#[repr(C, align(64))]
pub(crate) struct Tally(AtomicU64);

/// One slot's first line.
#[repr(C, align(64))]
pub(crate) struct Head {
    /// The step whose part the slot holds. The owner's release is the partner of the readers' acquire: without it they could
    /// read the part of another step.
    number: AtomicU32,
    mark: AtomicU32,
    bytes: AtomicU64,
    short: UnsafeCell<[u8; SHORT_BYTES]>,
}

const _: () = assert!((SLOTS - 1) * SLOT_BYTES >= 1 << 20);
#[cfg(not(loom))]
const _: () = assert!(size_of::<Head>() == 64 && size_of::<Board>() == 8192);

/// Whether a counter at `at` has come to `number`; both may have wrapped.
#[inline]
pub(crate) fn has_come(at: u32, number: u32) -> bool {
    at.wrapping_sub(number) as i32 >= 0
}

impl Progress {
    /// Says that this member has ended step `number`: it reads nothing of that step any more.
    #[inline]
    pub(crate) fn end(&self, number: u32) {
        // Release, partner of the acquire in `ended`: our reads of the others' slots come before their next writes there.
        self.0.store(number, Ordering::Release);
    }

    /// The last step that this member has ended.
    #[inline]
    pub(crate) fn ended(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

impl Left {
    /// Says that one more member looks at this board no more.
    pub(crate) fn leave(&self) {
        // Release, partner of the acquire in `is_everybody`: its reads come before whatever the owner does next.
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn is_everybody(&self, members: usize) -> bool {
        self.0.load(Ordering::Acquire) as usize == members
    }
}

impl Broken {
    /// Says that the members are out of step.
    pub(crate) fn set(&self) {
        // Nothing else has to be seen with it: whoever sees it makes no step any more.
        self.0.store(1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl History {
    /// Says how far this member has come.
    pub(crate) fn publish(&self, through: u32, past: u32) {
        // Nothing else has to be seen with it: an older one is true as well.
        self.0.store(u64::from(through) << 32 | u64::from(past), Ordering::Relaxed);
    }

    /// Whether this member's calls and those of one that has come so far cannot be the same.
    pub(crate) fn contradicts(&self, through: u32, past: u32) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let ahead = ((word >> 32) as u32).wrapping_sub(through) as i32;
        let ahead_past = (word as u32).wrapping_sub(past) as i32;
        i64::from(ahead) * i64::from(ahead_past) < 0
    }
}

impl Recent {
    /// Says what call `number` is, which is not 0.
    pub(crate) fn publish(&self, number: u32, mark: u32) {
        let word = u64::from(number) << 32 | u64::from(mark);
        // Release, partner of the acquire in `mark`: whoever sees the call sees the part that was put before.
        self.0[number as usize % REMEMBERED].store(word, Ordering::Release);
    }

    /// What call `number` was; none if it has not been made yet, or is too long ago.
    pub(crate) fn mark(&self, number: u32) -> Option<u32> {
        let word = self.0[number as usize % REMEMBERED].load(Ordering::Acquire);
        ((word >> 32) as u32 == number).then_some(word as u32)
    }
}

impl Tally {
    /// Counts one more in step `number`; gives how many there are now.
    pub(crate) fn count(&self, number: u32) -> u32 {
        self.count_below(number, u32::MAX).unwrap_or(u32::MAX)
    }

    /// Counts one more unless `limit` are counted already.
    pub(crate) fn count_below(&self, number: u32, limit: u32) -> Option<u32> {
        // Acquire and release: whoever sees the count sees what all who counted did before.
        let next = |word: u64| {
            let counted = if (word >> 32) as u32 == number { word as u32 } else { 0 };
            (counted < limit).then(|| u64::from(number) << 32 | u64::from(counted + 1))
        };
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next).ok()?;
        next(before).map(|word| word as u32)
    }

    /// Says a number in step `number`, which nobody counts here.
    pub(crate) fn say(&self, number: u32, said: u32) {
        // Release, partner of the acquire in `said`: whoever hears it sees what was done before.
        self.0.store(u64::from(number) << 32 | u64::from(said), Ordering::Release);
    }

    /// What was said in step `number`.
    #[inline]
    pub(crate) fn said(&self, number: u32) -> Option<u32> {
        let word = self.0.load(Ordering::Acquire);
        ((word >> 32) as u32 == number).then_some(word as u32)
    }

    /// Whether exactly `count` are counted in step `number`.
    #[inline]
    pub(crate) fn is(&self, number: u32, count: u32) -> bool {
        self.0.load(Ordering::Acquire) == u64::from(number) << 32 | u64::from(count)
    }
}

impl Head {
    /// Where a short part is written before it is published.
    #[inline]
    pub(crate) fn short(&self) -> *mut u8 {
        self.short.with_mut(|place| place.cast())
    }

    /// Makes the part of step `number` visible, with the call that it belongs to.
    #[inline]
    pub(crate) fn publish(&self, number: u32, mark: u32, bytes: usize) {
        self.mark.store(mark, Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        self.number.store(number, Ordering::Release);
    }

    #[inline]
    pub(crate) fn holds(&self, number: u32) -> bool {
        self.number.load(Ordering::Acquire) == number
    }

    /// What the owner says of its call: which it is, and of how many bytes. Only after [`Head::holds`].
    #[inline]
    pub(crate) fn contents(&self) -> (u32, usize) {
        (self.mark.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed) as usize)
    }
}

#[cfg(test)]
mod tests;
