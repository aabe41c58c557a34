//! Boards: what one member of a team shows the others in a collective, and how they know when it may be read
//! and written.
//!
//! A collective goes in steps, which all members count alike; the number of a step is its *epoch*. In a step
//! a member puts its part into the slot that the epoch chooses, and the others read it there. The slot is
//! used again [`SLOTS`] steps later, once every member has said that it has ended the step that used it
//! before. Parts of up to [`SHORT_BYTES`] lie in the slot's header, beside the epoch, so that they move one
//! line from core to core.

mod calls;
mod counter;
mod levels;

pub(crate) use calls::{History, RecentCalls};
pub(crate) use counter::{Counter, SlotCounters};
pub(crate) use levels::{Levels, Lines, SlotLevels};

use crate::primitive::{AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// How many steps a member may be ahead of the slowest.
///
/// Where ranks are oversubscribed, each switch between them serves half as many. Together the slots are
/// larger than the near caches, on purpose: a slot that is used again too soon still lies in the reader's
/// cache, and what was just written in the writer's. From there a line takes longer than from the cache that
/// both share. See docs/measurements.md#number-of-slots.
pub(crate) const SLOTS: usize = 16;
/// The longest part that one slot holds.
///
/// A block of 1 MiB has to fit all slots but one. Then the slot of the collective before, which some members
/// may not have ended, is not asked for, and a rank that only gives, as in a gather, leaves without waiting
/// for them. See docs/measurements.md#length-of-slots.
pub(crate) const SLOT_BYTES: usize = 72 << 10;
/// The longest part that lies in the slot's header.
pub(crate) const SHORT_BYTES: usize = 48;
/// A board with the slots' bytes behind it.
pub(crate) const BOARD_BYTES: usize = size_of::<Board>() + SLOTS * SLOT_BYTES;

/// One member's lines. Fresh memory of zeros is a board of which nothing was used.
#[repr(C, align(4096))]
pub(crate) struct Board {
    pub(crate) progress: Progress,
    /// How many members sleep until a slot may be used again. Only the first member's board counts them.
    pub(crate) waiters: Waiters,
    /// How many members have left the team, and read this board no more.
    pub(crate) left: Left,
    /// Whether a member has found that the members are not in the same step. Only the first member's board says so.
    pub(crate) broken: Broken,
    pub(crate) history: History,
    pub(crate) recent_by_messages: RecentCalls,
    /// The calls over boards, each once this member has put what it puts first.
    pub(crate) recent_over_boards: RecentCalls,
    /// Mostly only the first member's are used. An allreduce in shares uses those of each member, or of the first
    /// member on each processor.
    pub(crate) counters: [SlotCounters; SLOTS],
    pub(crate) headers: [SlotHeader; SLOTS],
    /// Used where members arrive in groups.
    pub(crate) levels: [SlotLevels; SLOTS],
}

/// The last step that a member has ended.
#[repr(C, align(64))]
pub(crate) struct Progress(AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Waiters(pub(crate) AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Left(AtomicU32);

/// Whether the members are out of step, and since which call: 0 if they are not, otherwise [`BROKEN`] and the call's
/// number. Never cleared.
#[repr(C, align(64))]
pub(crate) struct Broken(AtomicU64);

const BROKEN: u64 = 1 << 32;

/// One slot's first line.
#[repr(C, align(64))]
pub(crate) struct SlotHeader {
    /// The step whose part the slot holds. The owner's release is the partner of the readers' acquire:
    /// without it they could read the part of another step.
    epoch: AtomicU32,
    call_id: AtomicU32,
    bytes: AtomicU64,
    short: UnsafeCell<[u8; SHORT_BYTES]>,
}

const _: () = assert!((SLOTS - 1) * SLOT_BYTES >= 1 << 20);
#[cfg(not(loom))]
const _: () = assert!(size_of::<SlotHeader>() == 64 && size_of::<Board>() == 8192);

/// Whether a member at step `at` has reached `epoch`; both may have wrapped.
#[inline]
pub(crate) fn has_reached(at: u32, epoch: u32) -> bool {
    at.wrapping_sub(epoch) as i32 >= 0
}

impl Progress {
    /// Says that this member has ended a step: it reads nothing of that step any more.
    #[inline]
    pub(crate) fn end(&self, epoch: u32) {
        // Release, partner of the acquire in `ended`: our reads of the others' slots come before their next
        // writes there.
        self.0.store(epoch, Ordering::Release);
    }

    /// The last step that this member has ended.
    #[inline]
    pub(crate) fn ended(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

impl Left {
    /// Says that one more member reads this board no more.
    pub(crate) fn leave(&self) {
        // Release, partner of the acquire in `is_everybody`: its reads come before whatever the owner does next.
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn is_everybody(&self, members: usize) -> bool {
        self.0.load(Ordering::Acquire) as usize == members
    }
}

impl Broken {
    /// Says that the members are out of step in call `number` and all later ones; 0 means every call.
    #[cold]
    pub(crate) fn set(&self, number: u32) {
        let is_earlier = |now: u64| now == 0 || number == 0 || !has_reached(number, now as u32);
        let earlier = |now| is_earlier(now).then_some(BROKEN | u64::from(number));
        // Relaxed: nothing else has to be seen with it, for whoever sees it makes no step any more.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// Whether call `number`, 0 if it has none, is among those in which the members are out of step. Earlier calls go
    /// on: the others have done their part in them.
    #[inline]
    pub(crate) fn reaches(&self, number: u32) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        word != 0 && (number == 0 || word as u32 == 0 || has_reached(number, word as u32))
    }
}

impl SlotHeader {
    /// Where a short part is written before it is published.
    #[inline]
    pub(crate) fn short(&self) -> *mut u8 {
        self.short.with_mut(|place| place.cast())
    }

    /// Makes the part of a step visible, with the id and the length of the call that it belongs to.
    #[inline]
    pub(crate) fn publish(&self, epoch: u32, call_id: u32, bytes: usize) {
        self.call_id.store(call_id, Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        // Release, partner of the acquire in `holds`: the part and its call are seen with the epoch.
        self.epoch.store(epoch, Ordering::Release);
    }

    #[inline]
    pub(crate) fn holds(&self, epoch: u32) -> bool {
        self.epoch.load(Ordering::Acquire) == epoch
    }

    /// The owner's call id, and the length that it means. Only after [`SlotHeader::holds`].
    #[inline]
    pub(crate) fn contents(&self) -> (u32, usize) {
        (self.call_id.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed) as usize)
    }
}

#[cfg(test)]
mod tests;
