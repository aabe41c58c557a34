//! The first page of the segment, and the page of each rank. Everything in them is atomic: several processes access it
//! at once.

use std::time::Duration;

use super::Choices;
use super::abort::Abort;
use super::call::CallWord;
use super::help::{HELP_SLOTS, HelpSlot};
use super::layout::{Layout, MAXIMUM_RANKS};
use super::processors::RankProcessors;
use super::wait_note::WaitNote;
use crate::board::Board;
use crate::clock::ClockParameters;
use crate::primitive::{AtomicU32, AtomicU64, Ordering, futex_wait, futex_wake};

const MAGIC: u64 = u64::from_le_bytes(*b"CornerSt");
/// Version of the layout, which changes with anything that two builds must agree on. Sizes and places are compared too.
const VERSION: u32 = 10;
const BUILD_BOTH: &str = "build the launcher and the program (or libmpi_abi) from the same sources";

const EVERY_RANK_HAS_A_PROCESSOR: u32 = 1;
const CROSS_MEMORY_ATTACH: u32 = 2;
const ARENAS: u32 = 4;

/// The first page.
#[repr(C, align(4096))]
pub(crate) struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    ranks: AtomicU32,
    job_bytes: AtomicU64,
    /// Fingerprint of the layout that the launcher uses.
    fingerprint: AtomicU64,
    choices: AtomicU32,
    /// Number of ranks that have mapped the segment. Ranks that wait for all of them sleep on it.
    joined: AtomicU32,
    /// Number of ranks that have left.
    left: AtomicU32,
    cma_votes: CmaVotes,
    clock: ClockWords,
    pub(crate) abort: Abort,
    /// Eight words in one line, for measuring the hardware.
    pub(crate) shared_line: SharedWords,
}

/// The ranks' votes on cross-memory attach.
#[repr(C)]
struct CmaVotes {
    fast: AtomicU32,
    impossible: AtomicU32,
    /// Number of ranks that have voted. Ranks that wait for all of them sleep on it.
    given: AtomicU32,
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

#[repr(C, align(64))]
struct ClockWords {
    /// 0 until the other words are written.
    ready: AtomicU32,
    counter: AtomicU32,
    epoch: AtomicU64,
    ps_per_tick_scaled: AtomicU64,
    resolution_ps: AtomicU64,
}

/// The state of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum State {
    /// It has not joined yet.
    Starting = 0,
    /// Running its program.
    Alive = 1,
    /// Its program ended normally, and it has nothing in progress.
    Finished = 2,
    /// Its program failed, or it died.
    Failed = 3,
    /// It sends and receives no messages of its own any more, but still takes part in joint work.
    Leaving = 4,
}

/// Part of a rank's state that is visible to the others: a page, so that two ranks never write to one line.
#[repr(C, align(4096))]
pub(crate) struct RankBlock {
    state: AtomicU32,
    process: AtomicU32,
    processors: RankProcessors,
    /// Address in its process from which the others may try to read.
    probe: AtomicU64,
    /// 1 once it has written what its neighbour reads to measure the ring.
    probe_written: AtomicU32,
    sleep: SleepWord,
    senders: Senders,
    call: CallWord,
    help_slots: [HelpSlot; HELP_SLOTS],
    wait_note: WaitNote,
}

// The text of a wait note has what the rest of the page leaves.
#[cfg(not(loom))]
const _: () = assert!(size_of::<RankBlock>() == 4096);

/// 1 while the rank sleeps or is about to. Its owner and those who wake it write it.
#[repr(C, align(64))]
pub(crate) struct SleepWord(pub(crate) AtomicU32);

/// One bit for each rank that has ever sent anything, set once. The receiver polls no other ring, so the pages of
/// unused rings are never touched.
#[repr(C, align(64))]
struct Senders([AtomicU64; MAXIMUM_RANKS / 64]);

impl Header {
    pub(super) fn initialise(&self, layout: &Layout, choices: Choices) {
        let choices = EVERY_RANK_HAS_A_PROCESSOR * u32::from(choices.every_rank_has_a_processor)
            + CROSS_MEMORY_ATTACH * u32::from(choices.cross_memory_attach)
            + ARENAS * u32::from(choices.arenas);
        // No rank has been started, so nobody reads yet, and the order does not matter.
        self.choices.store(choices, Ordering::Relaxed);
        self.ranks.store(layout.ranks() as u32, Ordering::Relaxed);
        self.job_bytes.store(layout.job_bytes() as u64, Ordering::Relaxed);
        self.fingerprint.store(fingerprint(layout), Ordering::Relaxed);
        self.version.store(VERSION, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    pub(super) fn check(&self) -> Result<Layout, String> {
        if self.magic.load(Ordering::Acquire) != MAGIC {
            return Err("the memory handed down is not a segment of this fabric".into());
        }
        let version = self.version.load(Ordering::Relaxed);
        if version != VERSION {
            return Err(format!(
                "the launcher is of another version (segment {version}, not {VERSION}): {BUILD_BOTH}"
            ));
        }
        let ranks = self.ranks.load(Ordering::Relaxed) as usize;
        if !(1..=MAXIMUM_RANKS).contains(&ranks) {
            return Err(format!("the memory handed down says that there are {ranks} ranks"));
        }
        let layout = Layout::new(ranks, self.job_bytes.load(Ordering::Relaxed) as usize);
        if self.fingerprint.load(Ordering::Relaxed) != fingerprint(&layout) {
            return Err(format!(
                "the launcher lays the shared memory out differently than this program does: {BUILD_BOTH}"
            ));
        }
        Ok(layout)
    }

    #[cfg(test)]
    pub(super) fn pretend_other_version(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn pretend_other_layout(&self) {
        self.fingerprint.fetch_xor(1, Ordering::Relaxed);
    }

    pub(crate) fn choices(&self) -> Choices {
        let bits = self.choices.load(Ordering::Relaxed);
        Choices {
            every_rank_has_a_processor: bits & EVERY_RANK_HAS_A_PROCESSOR != 0,
            cross_memory_attach: bits & CROSS_MEMORY_ATTACH != 0,
            arenas: bits & ARENAS != 0,
        }
    }

    /// Counts one more rank that has joined, and wakes the ranks that wait for the last.
    pub(crate) fn count_joined(&self) {
        self.joined.fetch_add(1, Ordering::AcqRel);
        futex_wake(&self.joined, i32::MAX);
    }

    /// Counts a rank that has left.
    pub(crate) fn count_left(&self) {
        // Release, partner of `left`: a reader of the count sees the state of the rank, too.
        self.left.fetch_add(1, Ordering::Release);
    }

    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.left.load(Ordering::Acquire)
    }

    /// Returns whether any rank has joined.
    pub(crate) fn has_been_joined(&self) -> bool {
        self.joined.load(Ordering::Acquire) > 0
    }

    /// Sleeps until all `ranks` ranks have joined or the run is aborted.
    pub(crate) fn wait_for_all(&self, ranks: usize) {
        loop {
            // Acquire, partner of `count_joined`: what each rank wrote before it counted itself is visible afterwards.
            let joined = self.joined.load(Ordering::Acquire);
            if joined as usize >= ranks || self.abort.is_raised() {
                return;
            }
            futex_wait(&self.joined, joined, Duration::from_millis(50));
        }
    }

    /// Casts this rank's vote, waits for all others, and returns the result: fast if more than half found it fast and
    /// for none it is impossible. With two ranks each can prevent cross-memory attach. A wrong decision against it
    /// costs less than a wrong one for it.
    pub(crate) fn vote_on_cma(&self, own: CmaVote, ranks: usize) -> CmaVote {
        let CmaVotes { fast, impossible, given } = &self.cma_votes;
        match own {
            CmaVote::Fast => fast.fetch_add(1, Ordering::Relaxed),
            CmaVote::Impossible => impossible.fetch_add(1, Ordering::Relaxed),
            CmaVote::Slow => 0,
        };
        // Release, partner of the acquire below: a rank that has counted all sees all votes.
        given.fetch_add(1, Ordering::AcqRel);
        futex_wake(given, i32::MAX);
        loop {
            let found = given.load(Ordering::Acquire);
            if found as usize >= ranks || self.abort.is_raised() {
                break;
            }
            futex_wait(given, found, Duration::from_millis(50));
        }
        match (fast.load(Ordering::Relaxed) as usize, impossible.load(Ordering::Relaxed)) {
            (_, 1..) => CmaVote::Impossible,
            (votes, 0) if 2 * votes > ranks => CmaVote::Fast,
            _ => CmaVote::Slow,
        }
    }

    pub(crate) fn set_clock(&self, clock: ClockParameters) {
        let words = &self.clock;
        words.counter.store(u32::from(clock.counter), Ordering::Relaxed);
        words.epoch.store(clock.epoch, Ordering::Relaxed);
        words.ps_per_tick_scaled.store(clock.ps_per_tick_scaled, Ordering::Relaxed);
        words.resolution_ps.store(clock.resolution_ps, Ordering::Relaxed);
        // Release, partner of the acquire in `clock`.
        words.ready.store(1, Ordering::Release);
        futex_wake(&words.ready, i32::MAX);
    }

    /// Returns the parameters of the clock. Sleeps until the launcher has measured it. Returns `None` if the run is
    /// aborted before.
    pub(crate) fn clock(&self) -> Option<ClockParameters> {
        let words = &self.clock;
        while words.ready.load(Ordering::Acquire) == 0 {
            if self.abort.is_raised() {
                return None;
            }
            futex_wait(&words.ready, 0, Duration::from_millis(50));
        }
        Some(ClockParameters {
            counter: words.counter.load(Ordering::Relaxed) != 0,
            epoch: words.epoch.load(Ordering::Relaxed),
            ps_per_tick_scaled: words.ps_per_tick_scaled.load(Ordering::Relaxed),
            resolution_ps: words.resolution_ps.load(Ordering::Relaxed),
        })
    }
}

/// Returns a number that differs between two builds with different layouts. It depends on every size and place that
/// both must share.
fn fingerprint(layout: &Layout) -> u64 {
    let last = layout.ranks() - 1;
    let ring = layout.ring(last, last);
    let parts = [
        layout.ranks(),
        layout.job_bytes(),
        layout.cells_per_ring() as usize,
        layout.lines_per_ring() as usize,
        size_of::<Header>(),
        size_of::<RankBlock>(),
        size_of::<Board>(),
        layout.block_offset(last),
        layout.board_offset(last),
        ring.credit,
        ring.cells,
        ring.bytes,
        layout.segment_bytes(),
        layout.arena_bytes(),
    ];
    // FNV-1a, a word at a time.
    let mix = |hash: u64, part: usize| (hash ^ part as u64).wrapping_mul(0x0100_0000_01b3);
    parts.into_iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

impl RankBlock {
    pub(crate) fn state(&self) -> State {
        // Acquire, partner of `set_state`: everything that the rank sent before it finished is in its rings.
        match self.state.load(Ordering::Acquire) {
            0 => State::Starting,
            1 => State::Alive,
            2 => State::Finished,
            4 => State::Leaving,
            _ => State::Failed,
        }
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.store(state as u32, Ordering::Release);
    }

    pub(crate) fn process(&self) -> libc::pid_t {
        self.process.load(Ordering::Relaxed) as libc::pid_t
    }

    pub(crate) fn set_process(&self, process: u32) {
        self.process.store(process, Ordering::Relaxed);
    }

    /// Returns where this rank runs.
    pub(crate) fn processors(&self) -> &RankProcessors {
        &self.processors
    }

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

    /// Returns this rank's reports of its long waits.
    pub(crate) fn wait_note(&self) -> &WaitNote {
        &self.wait_note
    }

    pub(crate) fn sleep_word(&self) -> &AtomicU32 {
        &self.sleep.0
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
    Header {
        magic, version, ranks, job_bytes, fingerprint, choices, joined, left, cma_votes, clock,
        abort, shared_line
    }
    CmaVotes { fast, impossible, given }
    ClockWords { ready, counter, epoch, ps_per_tick_scaled, resolution_ps }
    SharedWords { 0 }
    RankBlock {
        state, process, processors, probe, probe_written, sleep, senders, call, help_slots, wait_note
    }
    SleepWord { 0 }
    Senders { 0 }
}
