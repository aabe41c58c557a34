//! The measurements of a run in memory.

use record::Measurement;

/// Adds measurements to those of the run. `clock` reports all that it has observed again and again: its earlier reports
/// are replaced, so that a long run takes no more memory than a short one. So is a proof that is continued.
pub(super) fn remember(all: &mut Vec<Measurement>, new: Vec<Measurement>) {
    all.retain(|earlier| !new.iter().any(|one| one.replaces(earlier)));
    if new.iter().all(|one| one.pauses.is_none()) {
        return all.extend(new);
    }
    for one in new {
        let is_same = |earlier: &&mut Measurement| {
            (earlier.launch, &earlier.metric, earlier.key()) == (one.launch, &one.metric, one.key())
        };
        match all.iter_mut().rev().find(is_same) {
            Some(earlier) => *earlier = one,
            None => all.push(one),
        }
    }
}

#[cfg(test)]
mod tests {
    use analysis::statistics::{Sample, summarise};
    use record::{Better, Parameters, Pauses};

    use super::*;

    fn measurement(metric: &str, rank: u64, pauses: Option<Pauses>) -> Measurement {
        let parameters = Parameters::from([("rank".into(), rank.into())]);
        let summary = summarise(&Sample::new(vec![1.0]).unwrap(), 0.95);
        Measurement { parameters, pauses, ..Measurement::new(metric, "us", Better::Lower, summary) }
    }

    /// The report of two ranks after so many seconds.
    fn report(duration_s: f64) -> Vec<Measurement> {
        let pauses = Pauses {
            processor: None,
            threshold_us: 2.0,
            duration_s,
            at_s: Vec::new(),
            not_kept: 0,
            kinds: Vec::new(),
            summary: None,
        };
        let of_rank = |rank: u64| {
            [measurement("lost", rank, Some(pauses.clone())), measurement("pause", rank, None)]
        };
        [0, 1].into_iter().flat_map(of_rank).collect()
    }

    #[test]
    fn later_reports_of_pauses_replace_the_earlier_ones() {
        let mut all = vec![measurement("time", 0, None)];
        [5.0, 10.0, 20.0].into_iter().for_each(|end_s| remember(&mut all, report(end_s)));
        let expected: Vec<Measurement> =
            [measurement("time", 0, None)].into_iter().chain(report(20.0)).collect();
        assert_eq!(all, expected);
        // All others are kept: a case may be measured again.
        remember(&mut all, vec![measurement("time", 0, None)]);
        assert_eq!(all.len(), 6);
    }
}
