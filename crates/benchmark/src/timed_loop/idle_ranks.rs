//! Ranks without work in a chunk sleep, so that they do not disturb those that time.
//!
//! A rank that waits for the next chunk spins, on a processor that may share its core, its power or its memory with one
//! that is measured. If the ranks have a shared line, idle ranks sleep on a word of it instead, and the rank that times
//! wakes them when it has its samples.

use std::sync::atomic::Ordering;

use contract::{Rank, Result, Source, TagSelector};

use super::start::{TAG, TimingRole};

/// Index of the word. The programs use the words from 0 up.
const WORD: usize = 7;

/// Counter of the chunks of a measurement. The shared word contains the number of those that are over.
#[derive(Debug, Default)]
pub(super) struct IdleRanks {
    chunks: u64,
}

impl IdleRanks {
    /// Ends a chunk: sleeps until the rank that times has ended it too, or wakes the sleepers.
    pub(super) fn end_chunk(&mut self, rank: &mut dyn Rank, role: TimingRole) -> Result<()> {
        let over = self.chunks + 1;
        self.chunks = over;
        match role {
            TimingRole::Waits => sleep(rank, over),
            TimingRole::Times | TimingRole::Ends | TimingRole::TimesAsFirst if rank.size() > 2 => {
                if let Some(line) = rank.shared_line() {
                    // Release, with the Acquire of the sleepers.
                    line.word(WORD).store(over, Ordering::Release);
                    line.wake(WORD);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn sleep(rank: &mut dyn Rank, over: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        // Acquire, with the Release of the rank that times.
        if line.word(WORD).load(Ordering::Acquire) >= over {
            break;
        }
        line.sleep_while(WORD, over - 1);
        // The probe is the liveness check: it fails if the run was aborted.
        rank.probe(Source::Any, TagSelector::Is(TAG))?;
    }
    Ok(())
}
