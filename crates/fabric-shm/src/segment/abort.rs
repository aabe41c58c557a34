//! The record of what ended a run early: the first failure wins, and every rank that waits long checks it.

use crate::primitive::{AtomicU32, Ordering};
use std::sync::atomic::AtomicU8;

const TEXT_BYTES: usize = 2000;

const CLEAR: u32 = 0;
const BEING_WRITTEN: u32 = 1;
const RAISED: u32 = 2;

/// No rank: the launcher or the user gave the run up.
const NO_RANK: u32 = u32::MAX;

/// Why the run was given up, if it was.
#[repr(C, align(64))]
pub(crate) struct Abort {
    state: AtomicU32,
    rank: AtomicU32,
    died: AtomicU32,
    bytes: AtomicU32,
    text: [AtomicU8; TEXT_BYTES],
}

impl Abort {
    /// Whether the run was given up. Cheap enough to ask in a spin loop: the line is only ever written once.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Acquire, partner of the release in `raise`.
        self.state.load(Ordering::Acquire) == RAISED
    }

    /// Gives the run up because `rank`'s program failed, or for a reason of no rank. Only the first call counts.
    pub(crate) fn raise(&self, rank: Option<usize>, why: &str) -> bool {
        self.raise_as(rank, false, why)
    }

    /// Gives the run up because `rank` died.
    pub(crate) fn raise_death(&self, rank: usize, how: &str) -> bool {
        self.raise_as(Some(rank), true, how)
    }

    fn raise_as(&self, rank: Option<usize>, died: bool, why: &str) -> bool {
        let won =
            self.state.compare_exchange(CLEAR, BEING_WRITTEN, Ordering::Acquire, Ordering::Relaxed);
        if won.is_err() {
            return false;
        }
        self.rank.store(rank.map_or(NO_RANK, |rank| rank as u32), Ordering::Relaxed);
        self.died.store(u32::from(died), Ordering::Relaxed);
        let bytes = why.floor_char_boundary(TEXT_BYTES);
        for (place, byte) in self.text.iter().zip(&why.as_bytes()[..bytes]) {
            place.store(*byte, Ordering::Relaxed);
        }
        self.bytes.store(bytes as u32, Ordering::Relaxed);
        self.state.store(RAISED, Ordering::Release);
        true
    }

    /// Which rank failed, if it was one, and why.
    pub(crate) fn reason(&self) -> Option<(Option<usize>, String)> {
        if !self.is_raised() {
            return None;
        }
        let rank = self.rank.load(Ordering::Relaxed);
        let bytes = (self.bytes.load(Ordering::Relaxed) as usize).min(TEXT_BYTES);
        let text: Vec<u8> =
            self.text[..bytes].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        let rank = (rank != NO_RANK).then_some(rank as usize);
        Some((rank, String::from_utf8_lossy(&text).into_owned()))
    }

    /// The error that every call of a rank returns from now on.
    pub(crate) fn error(&self) -> contract::Error {
        match self.reason() {
            Some((Some(rank), how)) if self.died.load(Ordering::Relaxed) != 0 => {
                contract::Error::RankDied { rank, how }
            }
            Some((Some(rank), why)) => {
                contract::Error::Aborted { why: format!("rank {rank} failed: {why}") }
            }
            Some((None, why)) => contract::Error::Aborted { why },
            None => contract::Error::Aborted { why: "for an unknown reason".into() },
        }
    }
}
