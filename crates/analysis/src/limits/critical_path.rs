//! The critical path of messages.

use std::fmt;

use serde::Serialize;

/// Data that the messages of one event carry, with any algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Number of hand-overs of a cache line that must follow one another; 0 if those of many messages overlap, as in a
    /// stream.
    pub hand_overs: u64,
    /// Number of blocks of the message size that all ranks together receive.
    pub blocks: u64,
}

/// The minimum work between the beginning and the end of a benchmark's event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CriticalPath {
    /// Number of hand-overs of a cache line that must follow one another.
    pub hand_overs: u64,
    /// Number of switches between ranks that one core must make, if ranks share cores.
    pub switches: u64,
    /// Number of messages that each core must copy, one after the other. It may be a fraction, because cores share the
    /// work.
    pub copies: f64,
}

/// Returns the critical path of `traffic` among this number of `ranks` on this number of `cores` (0: a core for each
/// rank). Ranks that take no part are not counted.
///
/// The path is a lower bound for any algorithm over shared memory, not the cost of a good one. All ranks may read one
/// line at once, so a broadcast or a barrier needs one hand-over for any number of ranks. Copies are bounded by the
/// blocks that all must receive, divided by the number of cores: a sender can write into its receiver's memory, so that
/// two ranks copy half a message each. Every rank has a part, so a core with k ranks switches at least k - 1 times: the
/// rank that ended the last event may begin the next. On a single core each hand-over is a switch.
pub(super) fn critical_path(traffic: Traffic, ranks: usize, cores: usize) -> CriticalPath {
    let Traffic { hand_overs, blocks } = traffic;
    let ranks = ranks as u64;
    let workers = if cores == 0 { ranks } else { ranks.min(cores as u64) }.max(1);
    let (hand_overs, switches) = match (hand_overs, ranks, workers) {
        // With one rank there is no hand-over, and in a stream no rank waits for one.
        (0, ..) | (_, 0 | 1, _) => (0, 0),
        (_, _, 1) => (0, hand_overs.max(ranks - 1)),
        _ => (hand_overs, ranks.div_ceil(workers) - 1),
    };
    CriticalPath { hand_overs, switches, copies: blocks as f64 / workers as f64 }
}

impl fmt::Display for CriticalPath {
    /// Formats as `1 hand-over + 3 switches + 3.5 copies`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = (self.copies * 10.0).round() / 10.0;
        let parts = [
            (self.hand_overs as f64, "hand-over", "hand-overs"),
            (self.switches as f64, "switch", "switches"),
            (copies, "copy", "copies"),
        ];
        let words: Vec<String> = parts
            .into_iter()
            .filter(|(count, ..)| *count > 0.0)
            .map(|(count, one, many)| format!("{count} {}", if count == 1.0 { one } else { many }))
            .collect();
        f.write_str(&words.join(" + "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(hand_overs: u64, blocks: u64, ranks: usize, cores: usize) -> (u64, u64, f64) {
        let path = critical_path(Traffic { hand_overs, blocks }, ranks, cores);
        (path.hand_overs, path.switches, path.copies)
    }

    #[test]
    fn ranks_that_share_cores_must_be_switched_to() {
        // Eight ranks on two cores, four each: three switches. Five on two: the fuller core has three.
        assert_eq!(path(1, 0, 8, 2), (1, 3, 0.0));
        assert_eq!(path(1, 0, 5, 2), (1, 2, 0.0));
        assert_eq!(path(1, 0, 2, 2), (1, 0, 0.0));
        // On one core two ranks must be switched there and back; four take three switches, one takes none.
        assert_eq!(path(2, 2, 2, 1), (0, 2, 2.0));
        assert_eq!(path(1, 0, 4, 1), (0, 3, 0.0));
        assert_eq!(path(1, 0, 1, 1), (0, 0, 0.0));
    }

    #[test]
    fn nobody_waits_in_a_stream() {
        assert_eq!(path(0, 1, 2, 2), (0, 0, 0.5));
        assert_eq!(path(0, 1, 2, 1), (0, 0, 1.0));
    }

    #[test]
    fn all_cores_that_hold_a_rank_share_the_copies() {
        assert_eq!(path(1, 1, 2, 2), (1, 0, 0.5));
        assert_eq!(path(1, 7, 8, 0), (1, 0, 0.875));
        assert_eq!(path(3, 12, 4, 4), (3, 0, 3.0));
        assert_eq!(path(1, 16, 4, 16), (1, 0, 4.0));
        // Fewer cores than ranks share the copies of all: seven receivers on two cores.
        assert_eq!(path(1, 7, 8, 2), (1, 3, 3.5));
    }

    #[test]
    fn paths_read_like_words() {
        let text = |hand_overs, switches, copies| {
            CriticalPath { hand_overs, switches, copies }.to_string()
        };
        assert_eq!(text(1, 0, 0.0), "1 hand-over");
        assert_eq!(text(2, 1, 1.0), "2 hand-overs + 1 switch + 1 copy");
        assert_eq!(text(0, 3, 3.5), "3 switches + 3.5 copies");
    }
}
