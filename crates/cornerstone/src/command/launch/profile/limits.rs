//! The least time of messages, by the limits of this machine in a run.

use std::collections::HashMap;
use std::path::Path;

use analysis::limits::Limits;
use profile::{Matched, RankRecord};

use crate::failure::Failure;
use crate::results;

/// Bytes in the first line, which cost no more than the line itself.
const LINE_BYTES: u64 = 64;

/// Reads the limits in a results file.
///
/// # Errors
/// If the file cannot be read, or has no limits.
pub(super) fn read(path: &Path) -> Result<Limits, Failure> {
    let limits = Limits::of(&results::read_noting_gaps(path)?);
    if limits.fastest_hand_over_us().is_none() || limits.copies.is_empty() {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "the run '{shown}' did not measure this machine's limits"
        ))
        .hint("`cornerstone run limits` does"));
    }
    Ok(limits)
}

/// Returns the least seconds of the messages that end at each place, by the rank and the index of the site. A message
/// takes at least the hand-over of a line between the fastest pair of processors, and one copy of the bytes beyond that
/// line.
pub(super) fn floors(
    records: &[RankRecord],
    messages: &[Matched],
    limits: Option<&Limits>,
) -> HashMap<(usize, u16), f64> {
    let mut floors = HashMap::new();
    let Some(limits) = limits else { return floors };
    for message in messages {
        let bytes = records[message.from].events[message.send].bytes;
        let (to, event) = (&records[message.to], &records[message.to].events[message.receive]);
        *floors.entry((to.rank, event.site)).or_insert(0.0) += floor_s(limits, bytes);
    }
    floors
}

fn floor_s(limits: &Limits, bytes: u64) -> f64 {
    let hand_over_us = limits.fastest_hand_over_us().unwrap_or(0.0);
    let beyond = bytes.saturating_sub(LINE_BYTES);
    // A byte per microsecond is a megabyte per second.
    let copy_us = limits.copy_mb_per_s(bytes.max(1)).map_or(0.0, |rate| beyond as f64 / rate);
    (hand_over_us + copy_us) * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::limits::{Copy, HandOver};

    /// A line takes 0.1 us. Beyond it, 10 000 bytes at 10 000 MB/s take 1 us.
    #[test]
    fn a_message_takes_a_hand_over_and_a_copy_of_the_rest() {
        let limits = Limits {
            hand_overs: vec![HandOver { from: 0, to: 1, time_us: 0.1 }],
            copies: vec![Copy { size_bytes: 4096, rate_mb_per_s: 10_000.0 }],
            ..Limits::default()
        };
        assert!((floor_s(&limits, 8) - 0.1e-6).abs() < 1e-12);
        assert!((floor_s(&limits, 10_064) - 1.1e-6).abs() < 1e-12);
    }
}
