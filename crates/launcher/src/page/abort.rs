//! The record of an aborted run. The first failure is kept, and every rank in a long wait checks it.

use crate::primitive::{AtomicU32, Ordering};
use std::sync::atomic::AtomicU8;

const TEXT_BYTES: usize = 2000;

const CLEAR: u32 = 0;
const BEING_WRITTEN: u32 = 1;
const RAISED: u32 = 2;

/// No rank: the launcher or the user aborted the run.
const NO_RANK: u32 = u32::MAX;

/// The reason why the run was aborted, if it was.
#[repr(C, align(64))]
pub(crate) struct Abort {
    state: AtomicU32,
    rank: AtomicU32,
    died: AtomicU32,
    bytes: AtomicU32,
    text: [AtomicU8; TEXT_BYTES],
}

impl Abort {
    /// Returns whether the run was aborted. Cheap enough for a spin loop: the line is written only once.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Acquire, partner of the release in `raise`.
        self.state.load(Ordering::Acquire) == RAISED
    }

    /// Aborts the run because `rank`'s program failed, or for a reason that concerns no rank. Only the first call has
    /// an effect.
    pub(crate) fn raise(&self, rank: Option<usize>, why: &str) -> bool {
        self.raise_as(rank, false, why)
    }

    /// Aborts the run because `rank` died.
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

    /// Returns which rank failed, if one did, and why.
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

    /// Returns the error that every call of a rank returns from now on.
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

#[cfg(loom)]
crate::primitive::fresh! {
    Abort { state, rank, died, bytes, text }
}
