//! Boards: the memory in which a member of a team shows its parts of collectives to the others, and the protocol that
//! says when it may be read and written.
//!
//! A collective consists of steps, which all members number alike; the number of a step is its *epoch*. In a step a
//! member puts its part into the slot that the epoch selects, and the others read it there. The slot is reused
//! [`SLOTS`] steps later, once every member has ended the step that used it before. Parts of up to [`SHORT_BYTES`] lie
//! in the slot's header, beside the epoch, so that only one line moves from core to core.

mod calls;
mod counter;
mod levels;

pub(crate) use calls::{History, REMEMBERED, RecentCalls, RecentCallsByMessages};
pub(crate) use counter::{Counter, SlotCounters};
pub(crate) use levels::{Levels, Lines, SlotLevels};

use std::cell::UnsafeCell;

use collectives::CallId;

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// Number of steps that a member may be ahead of the slowest.
///
/// If ranks are oversubscribed, each switch between them serves half as many. The slots together are larger than the
/// near caches on purpose. A slot that is reused too soon still lies in the reader's cache, and what was just written
/// lies in the writer's. Fetching a line from there takes longer than from the cache that both share. See
/// docs/measurements.md#slots-and-pieces.
pub(crate) const SLOTS: usize = if cfg!(loom) { 2 } else { 16 };
/// Length of the longest part that one slot holds.
///
/// A block of 1 MiB must fit all slots but one. Then it does not need the slot of the previous collective, which some
/// members may not have ended, and a rank that only gives, as in a gather, leaves without waiting for them. See
/// docs/measurements.md#slots-and-pieces.
pub(crate) const SLOT_BYTES: usize = if cfg!(loom) { 2 << 10 } else { 72 << 10 };
/// Length of the longest part that lies in the slot's header.
pub(crate) const SHORT_BYTES: usize = 48;
/// Length of a board with the bytes of its slots behind it.
pub(crate) const BOARD_BYTES: usize = size_of::<Board>() + SLOTS * SLOT_BYTES;

/// The lines of one member's board. Fresh memory of zeros is an unused board.
#[repr(C, align(4096))]
pub(crate) struct Board {
    pub(crate) progress: Progress,
    /// Number of members that sleep until a slot may be reused. Only the first member's board counts them.
    pub(crate) waiters: Waiters,
    /// Number of members that have left the team and no longer read this board.
    pub(crate) left: Left,
    /// The call from which on the members are not in the same step. Only the first member's board is used.
    pub(crate) broken: Broken,
    pub(crate) history: History,
    pub(crate) recent_by_messages: RecentCallsByMessages,
    /// The calls over boards, each once this member has put its first part of it.
    pub(crate) recent_over_boards: RecentCalls,
    /// Counters of the slots. Most collectives use only the first member's. An allreduce in shares uses those of each
    /// member, or of the first member on each processor.
    pub(crate) counters: [SlotCounters; SLOTS],
    pub(crate) headers: [SlotHeader; SLOTS],
    /// Used if members arrive in groups.
    pub(crate) levels: [SlotLevels; SLOTS],
}

/// The last step that a member has ended.
#[repr(C, align(64))]
pub(crate) struct Progress(AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Waiters(pub(crate) AtomicU32);

#[repr(C, align(64))]
pub(crate) struct Left(AtomicU32);

/// The call from which on the members are out of step: 0 if they are in step, otherwise [`BROKEN`] and the call's
/// number. It is never cleared.
#[repr(C, align(64))]
pub(crate) struct Broken(AtomicU64);

const BROKEN: u64 = 1 << 32;

/// The first line of a slot.
#[repr(C, align(64))]
pub(crate) struct SlotHeader {
    /// The step whose part the slot holds. The owner's release is the partner of the readers' acquire: without it they
    /// could read the part of another step.
    epoch: AtomicU32,
    call_id: AtomicU32,
    bytes: AtomicU64,
    short: UnsafeCell<[u8; SHORT_BYTES]>,
}

#[cfg(not(loom))]
const _: () = assert!((SLOTS - 1) * SLOT_BYTES >= 1 << 20);
#[cfg(not(loom))]
const _: () = assert!(size_of::<SlotHeader>() == 64 && size_of::<Board>() == 8192);

/// Returns whether a member at step `at` has reached `epoch`; both may have wrapped.
#[inline]
pub(crate) fn has_reached(at: u32, epoch: u32) -> bool {
    at.wrapping_sub(epoch) as i32 >= 0
}

impl Progress {
    /// Declares that this member has ended a step: it no longer reads anything of that step.
    #[inline]
    pub(crate) fn end(&self, epoch: u32) {
        // Release, partner of the acquire in `ended`: our reads of the others' slots come before their next writes
        // there.
        self.0.store(epoch, Ordering::Release);
    }

    /// Returns the last step that this member has ended.
    #[inline]
    pub(crate) fn ended(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

impl Left {
    /// Declares that one more member no longer reads this board.
    pub(crate) fn leave(&self) {
        // Release, partner of the acquire in `is_everybody`: the member's reads come before the owner's next action.
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn is_everybody(&self, members: usize) -> bool {
        self.0.load(Ordering::Acquire) as usize == members
    }
}

impl Broken {
    /// Declares the members out of step from call `number` on; 0 means in every call.
    #[cold]
    pub(crate) fn set(&self, number: u32) {
        let is_earlier = |now: u64| now == 0 || number == 0 || !has_reached(number, now as u32);
        let earlier = |now| is_earlier(now).then_some(BROKEN | u64::from(number));
        // Relaxed: no other memory depends on it, because a member that sees it makes no further step.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earlier);
    }

    /// Returns whether the members are out of step in call `number`, which is 0 for a call without a number. Earlier
    /// calls proceed: the others have done their part in them.
    #[inline]
    pub(crate) fn reaches(&self, number: u32) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        word != 0 && (number == 0 || word as u32 == 0 || has_reached(number, word as u32))
    }
}

impl SlotHeader {
    /// Returns the memory in which a short part is written before it is published.
    #[inline]
    pub(crate) fn short(&self) -> *mut u8 {
        self.short.get().cast()
    }

    /// Publishes the part of a step, with the id and the length of its call.
    #[inline]
    pub(crate) fn publish(&self, epoch: u32, call_id: CallId, bytes: usize) {
        self.call_id.store(call_id.bits(), Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
        // Release, partner of the acquire in `holds`: a reader of the epoch sees the part and its call.
        self.epoch.store(epoch, Ordering::Release);
    }

    #[inline]
    pub(crate) fn holds(&self, epoch: u32) -> bool {
        self.epoch.load(Ordering::Acquire) == epoch
    }

    /// Returns the owner's call id and length. Valid only after [`SlotHeader::holds`].
    #[inline]
    pub(crate) fn contents(&self) -> (CallId, usize) {
        let call_id = CallId::from_bits(self.call_id.load(Ordering::Relaxed));
        (call_id, self.bytes.load(Ordering::Relaxed) as usize)
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    Board {
        progress, waiters, left, broken, history, recent_by_messages, recent_over_boards, counters,
        headers, levels
    }
    Progress { 0 }
    Waiters { 0 }
    Left { 0 }
    Broken { 0 }
    SlotHeader { epoch, call_id, bytes, short }
}

/// Lets loom check the accesses to the parts of a board's steps.
#[cfg(all(test, loom))]
impl Board {
    pub(crate) fn watch(&self) {
        for slot in 0..SLOTS {
            self.headers[slot].watch();
            self.levels[slot].watch();
        }
        let slots = std::ptr::from_ref(self).wrapping_add(1);
        crate::primitive::watch(slots.cast(), SLOTS * SLOT_BYTES);
    }
}

#[cfg(all(test, loom))]
impl SlotHeader {
    fn watch(&self) {
        crate::primitive::watch(self.short(), SHORT_BYTES);
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests;
