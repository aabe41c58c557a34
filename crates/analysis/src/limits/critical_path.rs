//! What each benchmark cannot do without.

use std::fmt;

use contract::record::{ParameterValue, Parameters};
use serde::Serialize;

/// What lies at least between the beginning and the end of a benchmark's event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CriticalPath {
    /// Hand-overs of a cache line that must follow one another.
    pub hand_overs: u64,
    /// Switches from a rank to another that one core must make, where ranks share cores.
    pub switches: u64,
    /// Messages that each core must copy, one after the other. Not always whole: cores share the work.
    pub copies: f64,
}

/// The critical path of a benchmark's `time` on so many `ranks` and `cores` (0: a core for each rank); none for a
/// benchmark that is not known here.
///
/// All of it is a lower bound that any algorithm over shared memory obeys, not the cost of a good one. All ranks may
/// read one line at once, so a broadcast or a barrier needs one hand-over however many ranks there are. Copies are
/// bounded by the blocks that all must receive over the cores there are: a sender can write into its receiver's memory,
/// so that two ranks copy half a message each. A collective needs every rank, so a core that holds k ranks switches at
/// least k - 1 times: the rank that ended the last event may begin the next. On a single core each hand-over is a
/// switch.
pub fn critical_path(
    benchmark: &str,
    ranks: usize,
    parameters: &Parameters,
    cores: usize,
) -> Option<CriticalPath> {
    let p = ranks as u64;
    let others = p.saturating_sub(1);
    let acknowledged = parameters.get("acknowledgement") == Some(&ParameterValue::Flag(true));
    // Hand-overs in a row, and blocks that all ranks together receive.
    let (hand_overs, blocks) = match benchmark {
        "simple-transfer" | "ping-pong" | "latency" => (1, 1),
        "send-and-reply" => (2, 2),
        "exchange" => (1, 2),
        // Each block visits every rank in turn.
        "ring-broadcast" => (others, p * others),
        "node-broadcast" | "broadcast" => (1, others),
        "allgather-in-place" => (1, p * others),
        // Here a rank's own block moves too.
        "scatter" | "gather" => (1, p),
        "allgather" | "all-to-all" => (1, p * p),
        "barrier" => (1, 0),
        // The operands must be read once by somebody, whoever combines them.
        "reduce" | "allreduce" => (1, others),
        // In a stream the hand-overs of many messages overlap.
        "bandwidth" => (0, 1),
        "two-way-bandwidth" => (0, 2),
        "adjacent-pair" if acknowledged => (2, 1),
        "adjacent-pair" => (0, 1),
        _ => return None,
    };
    let working = if between_two(benchmark) { p.min(2) } else { p };
    let workers = if cores == 0 { working } else { working.min(cores as u64) }.max(1);
    let (hand_overs, switches) = match (others, workers) {
        // With one rank there is nobody to hand anything to.
        (0, _) => (0, 0),
        (_, 1) if between_two(benchmark) => (0, hand_overs),
        (_, 1) => (0, others.max(hand_overs)),
        _ if between_two(benchmark) => (hand_overs, 0),
        _ => (hand_overs, p.div_ceil(workers) - 1),
    };
    Some(CriticalPath { hand_overs, switches, copies: blocks as f64 / workers as f64 })
}

/// Whether only two ranks work, and the others, if any, sleep.
fn between_two(benchmark: &str) -> bool {
    matches!(
        benchmark,
        "simple-transfer"
            | "ping-pong"
            | "latency"
            | "send-and-reply"
            | "exchange"
            | "bandwidth"
            | "two-way-bandwidth"
            | "adjacent-pair"
    )
}

impl fmt::Display for CriticalPath {
    /// Such as `1 hand-over + 3 switches + 3.5 copies`.
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

    fn path(benchmark: &str, ranks: usize, cores: usize) -> (u64, f64) {
        let path = critical_path(benchmark, ranks, &Parameters::new(), cores).unwrap();
        (path.hand_overs, path.copies)
    }

    fn switches(benchmark: &str, ranks: usize, cores: usize) -> (u64, u64) {
        let path = critical_path(benchmark, ranks, &Parameters::new(), cores).unwrap();
        (path.hand_overs, path.switches)
    }

    #[test]
    fn ranks_that_share_cores_must_be_switched_to() {
        // Eight ranks on two cores, four each: three switches. Five on two: the fuller core holds three.
        assert_eq!(switches("barrier", 8, 2), (1, 3));
        assert_eq!(switches("barrier", 5, 2), (1, 2));
        assert_eq!(switches("barrier", 2, 2), (1, 0));
        // Of eight ranks only two play ping-pong; on one core they must be switched, there and back.
        assert_eq!(switches("ping-pong", 8, 2), (1, 0));
        assert_eq!(switches("send-and-reply", 2, 1), (0, 2));
        assert_eq!(switches("barrier", 4, 1), (0, 3));
        assert_eq!(switches("barrier", 1, 1), (0, 0));
    }

    #[test]
    fn all_cores_that_hold_a_rank_share_the_copies() {
        assert_eq!(path("ping-pong", 2, 2), (1, 0.5));
        assert_eq!(path("ping-pong", 8, 8), (1, 0.5), "six of eight ranks sleep");
        assert_eq!(path("broadcast", 8, 0), (1, 0.875));
        assert_eq!(path("ring-broadcast", 4, 4), (3, 3.0));
        assert_eq!(path("allgather", 4, 16), (1, 4.0));
        assert_eq!(path("barrier", 64, 64), (1, 0.0));
    }

    #[test]
    fn fewer_cores_than_ranks_share_the_copies_of_all() {
        // Seven receivers on two cores; four ranks that each receive three blocks, or four with their own.
        assert_eq!(path("broadcast", 8, 2), (1, 3.5));
        assert_eq!(path("allgather-in-place", 4, 2), (1, 6.0));
        assert_eq!(path("all-to-all", 4, 2), (1, 8.0));
        assert_eq!(path("ping-pong", 2, 1), (0, 1.0));
        assert_eq!(path("exchange", 2, 1), (0, 2.0));
    }

    #[test]
    fn an_acknowledgement_costs_a_round_trip_and_a_stream_none() {
        let mut parameters = Parameters::new();
        parameters.insert("acknowledgement".into(), true.into());
        assert_eq!(critical_path("adjacent-pair", 2, &parameters, 2).unwrap().hand_overs, 2);
        parameters.insert("acknowledgement".into(), false.into());
        assert_eq!(critical_path("adjacent-pair", 2, &parameters, 2).unwrap().hand_overs, 0);
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
