//! The first page of the segment, and the block of each rank. Everything in them is atomic: several processes access it
//! at once.

use super::call::CallWord;
use super::help::{HELP_SLOTS, HelpSlot};
use launcher::{MAXIMUM_RANKS, Seat};

use crate::primitive::{AtomicU32, AtomicU64, Ordering};

/// The first page.
#[repr(C, align(4096))]
pub(crate) struct Header {
    cma_votes: CmaVotes,
    /// Eight words in one line, for measuring the hardware.
    pub(crate) shared_line: SharedWords,
}

/// The ranks' votes on cross-memory attach.
#[repr(C)]
struct CmaVotes {
    fast: AtomicU32,
    impossible: AtomicU32,
}

/// A rank's vote on cross-memory attach, compared with two copies through the ring, or the result of all votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CmaVote {
    Impossible,
    Slow,
    Fast,
}

/// One cache line without an owner.
#[repr(C, align(64))]
pub(crate) struct SharedWords(pub(crate) [AtomicU64; 8]);

/// Part of a rank's state that is visible to the others: a page, so that two ranks never write to one line.
#[repr(C, align(4096))]
pub(crate) struct RankBlock {
    /// Address in its process from which the others may try to read.
    probe: AtomicU64,
    /// 1 once it has written what its neighbour reads to measure the ring.
    probe_written: AtomicU32,
    senders: Senders,
    call: CallWord,
    help_slots: [HelpSlot; HELP_SLOTS],
}

/// One bit for each rank that has ever sent anything, set once. The receiver polls no other ring, so the pages of
/// unused rings are never touched.
#[repr(C, align(64))]
struct Senders([AtomicU64; MAXIMUM_RANKS / 64]);

impl Header {
    /// Casts this rank's vote, waits for all others, and returns the result: fast if more than half found it fast and
    /// for none it is impossible. With two ranks each can prevent cross-memory attach. A wrong decision against it
    /// costs less than a wrong one for it.
    pub(super) fn vote_on_cma(&self, own: CmaVote, seat: &Seat) -> CmaVote {
        let CmaVotes { fast, impossible } = &self.cma_votes;
        match own {
            CmaVote::Fast => fast.fetch_add(1, Ordering::Relaxed),
            CmaVote::Impossible => impossible.fetch_add(1, Ordering::Relaxed),
            CmaVote::Slow => 0,
        };
        // The first call after the run was aborted says so.
        let _ = seat.meet();
        match (fast.load(Ordering::Relaxed) as usize, impossible.load(Ordering::Relaxed)) {
            (_, 1..) => CmaVote::Impossible,
            (votes, 0) if 2 * votes > seat.size() => CmaVote::Fast,
            _ => CmaVote::Slow,
        }
    }
}

impl RankBlock {
    pub(crate) fn probe(&self) -> u64 {
        self.probe.load(Ordering::Relaxed)
    }

    pub(crate) fn set_probe(&self, address: u64) {
        self.probe.store(address, Ordering::Relaxed);
    }

    pub(crate) fn is_probe_written(&self) -> bool {
        // Acquire, partner of the release below: what was written is read correctly.
        self.probe_written.load(Ordering::Acquire) != 0
    }

    pub(crate) fn set_probe_written(&self) {
        self.probe_written.store(1, Ordering::Release);
    }

    /// Returns the collective that this rank is in.
    #[inline]
    pub(crate) fn call(&self) -> &CallWord {
        &self.call
    }

    /// Returns a slot for the co-copy of a message that this rank receives.
    pub(crate) fn help_slot(&self, slot: usize) -> &HelpSlot {
        &self.help_slots[slot]
    }

    /// Declares that `sender` has begun to send to this rank.
    pub(crate) fn add_sender(&self, sender: usize) {
        // Release: the receiver's acquire in `senders` comes before it first polls the ring.
        self.senders.0[sender / 64].fetch_or(1 << (sender % 64), Ordering::Release);
    }

    /// Returns the ranks that ever sent to this one, 64 to a word.
    #[inline]
    pub(crate) fn senders(&self, word: usize) -> u64 {
        self.senders.0[word].load(Ordering::Acquire)
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    Header { cma_votes, shared_line }
    CmaVotes { fast, impossible }
    SharedWords { 0 }
    RankBlock { probe, probe_written, senders, call, help_slots }
    Senders { 0 }
}
