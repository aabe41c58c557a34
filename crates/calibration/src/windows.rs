//! Accesses to memory of other ranks, if ranks map each other's memory: each access is work of the origin's processor
//! alone.
//!
//! Over other fabrics windows use messages, on the twin as well.

use std::fmt::Write;

use crate::curve::Curve;
use crate::evidence::Evidence;

/// Costs of accesses, from the benchmarks `put`, `get`, `accumulate` and `notified-put`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowCosts {
    pub(crate) put: Curve,
    pub(crate) get: Curve,
    pub(crate) update: Curve,
    /// Time until a rank that waits for a notice sees it.
    pub(crate) see_us: f64,
}

impl WindowCosts {
    /// Returns the costs of accesses, if messages are copies and the run has puts, gets and updates.
    pub(crate) fn of(evidence: &Evidence) -> Option<WindowCosts> {
        if !evidence.are_copies() {
            return None;
        }
        let Evidence { put, get, accumulate, notified_put, .. } = evidence;
        if [put, get, accumulate].iter().any(|times| times.is_empty()) {
            return None;
        }
        let [put_curve, get, update] =
            [put, get, accumulate].map(|times| Curve::through(times, &[]));
        // Half a round trip consists of a put, a notice, which is an update of no elements, and the time until it is
        // seen.
        let polling_us = evidence.clock_us.unwrap_or(0.0);
        let seen = |(size, us): (&u64, &f64)| us - put_curve.of(*size) - update.of(0) - polling_us;
        let see_us = notified_put.first_key_value().map_or(0.0, |first| seen(first).max(0.0));
        Some(WindowCosts { put: put_curve, get, update, see_us })
    }

    /// Returns the section of the machine file; `pieces` writes a curve.
    pub(crate) fn text(&self, pieces: fn(&str, &Curve) -> String) -> String {
        let mut text = format!("[windows]\npath = \"processor\"\nsee_us = {:.6}\n", self.see_us);
        for (name, curve) in [("put", &self.put), ("get", &self.get), ("update", &self.update)] {
            let _ = write!(text, "{}", pieces(name, curve));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use contract::SharedMemory;

    use super::*;
    use crate::times::BySize;

    #[test]
    fn accesses_are_the_origins_work_where_ranks_see_each_others_memory() {
        let by_size = |values: &[(u64, f64)]| values.iter().copied().collect::<BySize>();
        let mut evidence = Evidence {
            put: by_size(&[(8, 0.25), (1024, 0.5)]),
            get: by_size(&[(8, 0.125), (1024, 0.625)]),
            accumulate: by_size(&[(8, 0.5), (1024, 2.0)]),
            notified_put: by_size(&[(8, 1.5), (1024, 4.0)]),
            clock_us: Some(0.25),
            ..Evidence::default()
        };
        assert_eq!(WindowCosts::of(&evidence), None, "puts are messages");
        evidence.fabric.shared_memory = Some(SharedMemory {
            one_copy_from_bytes: None,
            both_copy_from_bytes: 4096,
            cma_is_fast: false,
            board_line_bytes: None,
        });
        let costs = WindowCosts::of(&evidence).unwrap();
        assert_eq!((costs.put.of(8), costs.get.of(1024), costs.update.of(8)), (0.25, 0.625, 0.5));
        // Halfway between the two lengths.
        assert_eq!(costs.put.of(516), 0.375);
        // 1.5 less a put of 0.25, a notice of 0.5 and a poll of 0.25.
        assert_eq!(costs.see_us, 0.5);
        evidence.get.clear();
        assert_eq!(WindowCosts::of(&evidence), None, "gets were not measured");
    }
}
