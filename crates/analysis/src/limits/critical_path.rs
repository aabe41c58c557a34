//! What each benchmark cannot do without.

use std::fmt;

use contract::record::{ParameterValue, Parameters};
use serde::Serialize;

/// What lies at least between the beginning and the end of a benchmark's event.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CriticalPath {
    /// Hand-overs of a cache line that must follow one another.
    pub hand_overs: u64,
    /// Messages that one core must copy, one after the other. Not always whole: cores share the work of more ranks.
    pub copies: f64,
}

/// The critical path of a benchmark's `time` on so many `ranks` and `cores` (0: a core for each rank); none for a
/// benchmark that is not known here.
///
/// All of it is a lower bound that any algorithm over shared memory obeys, not the cost of a good one: all ranks may
/// read one line at once, so a broadcast or a barrier needs one hand-over however many ranks there are. Copies are
/// bounded in two ways: by the blocks that one rank must receive, and by the blocks that all must receive over the
/// cores there are.
pub fn critical_path(
    benchmark: &str,
    ranks: usize,
    parameters: &Parameters,
    cores: usize,
) -> Option<CriticalPath> {
    let p = ranks as u64;
    let others = p.saturating_sub(1);
    let acknowledged = parameters.get("acknowledgement") == Some(&ParameterValue::Flag(true));
    // Hand-overs in a row, blocks that a rank receives, and blocks that all of them receive.
    let (hand_overs, one, all) = match benchmark {
        "simple-transfer" | "ping-pong" | "latency" => (1, 1, 1),
        "send-and-reply" => (2, 2, 2),
        "exchange" => (1, 1, 2),
        // Each block visits every rank in turn.
        "ring-broadcast" => (others, others, p * others),
        "node-broadcast" | "broadcast" | "scatter" => (1, 1, others),
        "gather" => (1, 1, others),
        "allgather-in-place" | "all-to-all" => (1, others, p * others),
        // Each rank's own block moves too.
        "allgather" => (1, p, p * p),
        "barrier" => (1, 0, 0),
        // The operands must be read once by somebody, whoever combines them.
        "reduce" | "allreduce" => (1, 1, others),
        // In a stream the hand-overs of many messages overlap.
        "bandwidth" => (0, 1, 1),
        "two-way-bandwidth" => (0, 1, 2),
        "adjacent-pair" if acknowledged => (2, 1, 1),
        "adjacent-pair" => (0, 1, 1),
        _ => return None,
    };
    // With one rank there is nobody to hand anything to.
    let hand_overs = if others == 0 { 0 } else { hand_overs };
    let workers = if cores == 0 { p } else { p.min(cores as u64) };
    Some(CriticalPath { hand_overs, copies: (one as f64).max(all as f64 / workers.max(1) as f64) })
}

impl fmt::Display for CriticalPath {
    /// Such as `1 hand-over + 3.5 copies`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |one: bool| if one { "" } else { "s" };
        if self.hand_overs > 0 {
            write!(f, "{} hand-over{}", self.hand_overs, plural(self.hand_overs == 1))?;
        }
        if self.hand_overs > 0 && self.copies > 0.0 {
            f.write_str(" + ")?;
        }
        if self.copies > 0.0 {
            let copies = (self.copies * 10.0).round() / 10.0;
            write!(f, "{copies} cop{}", if copies == 1.0 { "y" } else { "ies" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(benchmark: &str, ranks: usize, cores: usize) -> (u64, f64) {
        let path = critical_path(benchmark, ranks, &Parameters::new(), cores).unwrap();
        (path.hand_overs, path.copies)
    }

    #[test]
    fn a_core_for_each_rank_bounds_by_what_one_rank_receives() {
        assert_eq!(path("broadcast", 8, 0), (1, 1.0));
        assert_eq!(path("ring-broadcast", 4, 4), (3, 3.0));
        assert_eq!(path("allgather", 4, 16), (1, 4.0));
        assert_eq!(path("barrier", 64, 64), (1, 0.0));
    }

    #[test]
    fn fewer_cores_than_ranks_share_the_copies_of_all() {
        // Seven receivers on two cores, and four ranks that each receive three blocks.
        assert_eq!(path("broadcast", 8, 2), (1, 3.5));
        assert_eq!(path("all-to-all", 4, 2), (1, 6.0));
        assert_eq!(path("ping-pong", 2, 1), (1, 1.0));
        assert_eq!(path("exchange", 2, 1), (1, 2.0));
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
        let text = |hand_overs, copies| CriticalPath { hand_overs, copies }.to_string();
        assert_eq!(text(1, 0.0), "1 hand-over");
        assert_eq!(text(2, 1.0), "2 hand-overs + 1 copy");
        assert_eq!(text(0, 3.5), "3.5 copies");
    }
}
