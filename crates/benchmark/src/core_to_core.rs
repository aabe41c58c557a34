//! The hand-over of one cache line from a core to another. The benchmark `hand-over` measures it as a limit, and
//! repetitions time it with each turn.

use std::sync::atomic::{AtomicU64, Ordering};

use analysis::statistics::Sample;
use contract::{Rank, Result, Source, Tag, TagSelector};

/// Tag for which waits probe. No message has it.
const PROBED: TagSelector = TagSelector::Is(Tag::new(0));

/// Number of polls between two liveness checks: many hand-overs long, but still a short time.
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
/// The loop pauses between polls. Without the pause the processor has many loads of the line in progress when the other
/// core takes it, and must undo them all. The measured limit would be too high, and every message would seem faster
/// relative to it. See docs/measurements.md#short-messages.
pub(crate) fn wait_for(rank: &mut dyn Rank, value: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        let word = line.word(0);
        // Acquire, with the Release of the other's put.
        if (0..LOADS).any(|_| is_there(word, value)) {
            break;
        }
        // The probe is the liveness check: it fails if the other rank is dead.
        rank.probe(Source::Any, PROBED)?;
    }
    Ok(())
}

/// Sets the first word of the shared line to `value`, and wakes the ranks that sleep on it.
pub(crate) fn put_and_wake(rank: &dyn Rank, value: u64) {
    put(rank, value);
    if let Some(line) = rank.shared_line() {
        line.wake(0);
    }
}

/// Sleeps until the first word of the shared line is `value`, the successor of its current value.
pub(crate) fn sleep_until(rank: &mut dyn Rank, value: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        line.sleep_while(0, value - 1);
        // Acquire, with the Release of the other's put.
        if line.word(0).load(Ordering::Acquire) == value {
            break;
        }
        // A spurious wake-up. The probe is the liveness check: it fails if the other rank is dead.
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

/// Number of round trips between two readings of the clock, and number of such batches. All of them are short compared
/// with a measurement.
const ROUNDS: usize = 16;
const BATCHES: usize = 15;

/// Measures the hand-over of a cache line from rank 0 to rank 1, in microseconds. Collective; the shared line must be
/// zero. Returns the time at rank 0.
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
