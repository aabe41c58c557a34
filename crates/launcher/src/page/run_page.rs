//! The page of the run.

use std::time::Duration;

use super::abort::Abort;
use super::rank_page::RankPage;
use crate::clock::ClockParameters;
use crate::layout::{Layout, MAXIMUM_RANKS, Room, fingerprint as fingerprint_of};
use crate::primitive::{AtomicU32, AtomicU64, Ordering, futex_wait, futex_wake};

const MAGIC: u64 = u64::from_le_bytes(*b"CornerSt");
/// Version of the layout, which changes with anything that two builds must agree on. Sizes and places are compared too.
const VERSION: u32 = 11;
pub(crate) const BUILD_BOTH: &str =
    "build the launcher and the program (or libmpi_abi) from the same sources";

const EVERY_RANK_HAS_A_PROCESSOR: u32 = 1;
const CROSS_MEMORY_ATTACH: u32 = 2;
const ARENAS: u32 = 4;

/// Longest sleep in a wait for the others or for the launcher, after which the run may have been aborted.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// The launcher's decisions for a whole run.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// Every rank has a processor to itself, so ranks may spin.
    pub every_rank_has_a_processor: bool,
    /// Ranks may copy from and to each other's memory through the kernel if it permits that.
    pub cross_memory_attach: bool,
    /// There are addresses for arenas.
    pub arenas: bool,
}

/// The first page.
#[repr(C, align(4096))]
pub(crate) struct RunPage {
    magic: AtomicU64,
    version: AtomicU32,
    ranks: AtomicU32,
    job_bytes: AtomicU64,
    /// Length and layout of the fabric's room.
    room_bytes: AtomicU64,
    room_layout: AtomicU64,
    /// Fingerprint of the layout that the launcher uses.
    fingerprint: AtomicU64,
    choices: AtomicU32,
    /// Number of ranks that have joined.
    joined: AtomicU32,
    /// Number of ranks that have left.
    left: AtomicU32,
    /// Number of times that ranks have come to meetings of all. Ranks that wait for the others sleep on it.
    met: AtomicU32,
    clock: ClockWords,
    pub(crate) abort: Abort,
}

#[repr(C, align(64))]
struct ClockWords {
    /// 0 until the other words are written.
    ready: AtomicU32,
    counter: AtomicU32,
    epoch: AtomicU64,
    ps_per_tick_scaled: AtomicU64,
    resolution_ps: AtomicU64,
}

impl RunPage {
    pub(crate) fn initialise(&self, layout: &Layout, choices: Choices) {
        let choices = EVERY_RANK_HAS_A_PROCESSOR * u32::from(choices.every_rank_has_a_processor)
            + CROSS_MEMORY_ATTACH * u32::from(choices.cross_memory_attach)
            + ARENAS * u32::from(choices.arenas);
        // No rank has been started, so nobody reads yet, and the order does not matter.
        self.choices.store(choices, Ordering::Relaxed);
        self.ranks.store(layout.ranks() as u32, Ordering::Relaxed);
        self.job_bytes.store(layout.job_bytes() as u64, Ordering::Relaxed);
        self.room_bytes.store(layout.room().bytes as u64, Ordering::Relaxed);
        self.room_layout.store(layout.room().layout, Ordering::Relaxed);
        self.fingerprint.store(fingerprint(layout), Ordering::Relaxed);
        self.version.store(VERSION, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    pub(crate) fn check(&self) -> Result<Layout, String> {
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
        let room = Room {
            bytes: self.room_bytes.load(Ordering::Relaxed) as usize,
            layout: self.room_layout.load(Ordering::Relaxed),
        };
        let layout = Layout::new(ranks, self.job_bytes.load(Ordering::Relaxed) as usize, room);
        if self.fingerprint.load(Ordering::Relaxed) != fingerprint(&layout) {
            return Err(other_layout());
        }
        Ok(layout)
    }

    #[cfg(test)]
    pub(crate) fn pretend_other_version(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(crate) fn pretend_other_layout(&self) {
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

    /// Counts one more rank that has joined.
    pub(crate) fn count_joined(&self) {
        self.joined.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns whether any rank has joined.
    pub(crate) fn has_been_joined(&self) -> bool {
        self.joined.load(Ordering::Acquire) > 0
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

    /// Comes to a meeting, and sleeps until ranks have come so many times to meetings, or the run is aborted. Returns
    /// whether they have.
    pub(crate) fn meet(&self, times: u32) -> bool {
        // Release, partner of the acquire below: what each rank wrote before it came is visible afterwards.
        self.met.fetch_add(1, Ordering::AcqRel);
        futex_wake(&self.met, i32::MAX);
        loop {
            let met = self.met.load(Ordering::Acquire);
            if met >= times || self.abort.is_raised() {
                return met >= times;
            }
            futex_wait(&self.met, met, LONGEST_SLEEP);
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
            futex_wait(&words.ready, 0, LONGEST_SLEEP);
        }
        Some(ClockParameters {
            counter: words.counter.load(Ordering::Relaxed) != 0,
            epoch: words.epoch.load(Ordering::Relaxed),
            ps_per_tick_scaled: words.ps_per_tick_scaled.load(Ordering::Relaxed),
            resolution_ps: words.resolution_ps.load(Ordering::Relaxed),
        })
    }
}

/// Returns the words about memory that two builds lay out differently.
pub(crate) fn other_layout() -> String {
    format!(
        "the launcher lays the shared memory out differently than this program does: {BUILD_BOTH}"
    )
}

/// Returns a number that differs between two builds with different layouts. It depends on every size and place that
/// both must share.
fn fingerprint(layout: &Layout) -> u64 {
    fingerprint_of(&[
        layout.ranks(),
        layout.job_bytes(),
        size_of::<RunPage>(),
        size_of::<RankPage>(),
        layout.rank_page_offset(layout.ranks() - 1),
        layout.room_offset(),
        layout.arenas_offset(),
        layout.arena_bytes(),
    ])
}

#[cfg(loom)]
crate::primitive::fresh! {
    RunPage {
        magic, version, ranks, job_bytes, room_bytes, room_layout, fingerprint, choices, joined, left,
        met, clock, abort
    }
    ClockWords { ready, counter, epoch, ps_per_tick_scaled, resolution_ps }
}
