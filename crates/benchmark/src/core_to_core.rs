//! Handing one cache line from a core to another: what a limit is measured by, and what is timed beside repetitions.

use std::sync::atomic::{AtomicU64, Ordering};

use analysis::statistics::Sample;
use contract::{Rank, Result, Source, Tag, TagSelector};

/// For the probes of [`wait_for`]: no message with it is ever sent.
const PROBED: TagSelector = TagSelector::Is(Tag::new(0));

/// Loads of the word between two checks that the other rank is alive: many hand-overs long, and soon over.
const LOADS: usize = 1 << 16;

/// Sets the first word of the shared line to `value`.
pub(crate) fn put(rank: &dyn Rank, value: u64) {
    if let Some(line) = rank.shared_line() {
        // Release, with the Acquire of the other's wait.
        line.word(0).store(value, Ordering::Release);
    }
}

/// Waits until the first word of the shared line is `value`.
///
/// The loop pauses between loads. Without the pause the processor has many loads of the line under way when the other
/// core takes it, and has to undo them all; the hand-over would be measured too long, and a floor that high would flatter
/// every message (docs/measurements.md).
pub(crate) fn wait_for(rank: &mut dyn Rank, value: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        let word = line.word(0);
        // Acquire, with the Release of the other's put.
        if (0..LOADS).any(|_| is_there(word, value)) {
            break;
        }
        // A probe fails if the other rank is dead.
        rank.probe(Source::Any, PROBED)?;
    }
    Ok(())
}

fn is_there(word: &AtomicU64, value: u64) -> bool {
    let found = word.load(Ordering::Acquire) == value;
    if !found {
        std::hint::spin_loop();
    }
    found
}

/// Round trips between two readings of the clock, and how often that is timed: short beside the measurement that it
/// stands beside.
const ROUNDS: usize = 16;
const BATCHES: usize = 15;

/// What handing a cache line from rank 0 to rank 1 takes, in microseconds. All ranks call it alike, with the shared line
/// cleared; rank 0 gets the answer.
pub(crate) fn line_us(rank: &mut dyn Rank) -> Result<Option<f64>> {
    let mut batches_us = Vec::with_capacity(BATCHES);
    for batch in 0..BATCHES {
        let begin = rank.now();
        for round in 0..ROUNDS {
            let there = 2 * (batch * ROUNDS + round) as u64 + 1;
            match rank.rank() {
                0 => {
                    put(rank, there);
                    wait_for(rank, there + 1)?;
                }
                1 => {
                    wait_for(rank, there)?;
                    put(rank, there + 1);
                }
                _ => {}
            }
        }
        batches_us.push(rank.now().since(begin).as_us() / (2 * ROUNDS) as f64);
    }
    rank.barrier()?;
    Ok(Sample::new(batches_us).ok().map(|sample| sample.median()))
}
