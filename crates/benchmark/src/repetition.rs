//! Measurements that are combined from repetitions, each made some time after the one before.
//!
//! A hypervisor may move a virtual processor, after which a cache line takes longer from one core to the other, for
//! seconds. A measurement that is made at once meets one such performance state. Repetitions and launches meet several,
//! and the line that is timed with each shows which.

use analysis::statistics::{Sample, is_precise};
use record::{Parameters, Repetition, StopReason};

use crate::settings::Settings;
use crate::timed_loop::Outcome;

/// The samples of the repetitions so far.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Earlier {
    /// The method of the repetitions, if it differs from the plan.
    pub(crate) more: Parameters,
    pub(crate) outcome: Outcome,
}

impl Earlier {
    /// Adds a later repetition that was made by the same method.
    pub(crate) fn and(self, later: Outcome, settings: &Settings) -> Outcome {
        let Outcome { mut samples_ps, mut warm_up_ps, timing: first, mut repetitions, .. } =
            self.outcome;
        let timing = first.and(samples_ps.len(), later.timing, later.samples_ps.len());
        samples_ps.extend(later.samples_ps);
        warm_up_ps.extend(later.warm_up_ps);
        repetitions.extend(later.repetitions);
        let precise = Sample::new(samples_ps.clone())
            .is_ok_and(|sample| is_precise(&sample, settings.confidence, settings.precision));
        let stop_reason = match later.stop_reason {
            _ if precise => StopReason::Precision,
            StopReason::Precision => StopReason::TimeLimit,
            other => other,
        };
        Outcome {
            samples_ps,
            warm_up_ps,
            stop_reason,
            timing,
            operations_ns: Vec::new(),
            repetitions,
        }
    }
}

/// Returns the record of one repetition, with the line's time before and after it, and the times of an operation during
/// it.
pub(crate) fn only(outcome: &Outcome, before_us: Option<f64>, after_us: Option<f64>) -> Repetition {
    Repetition {
        samples: outcome.samples_ps.len() as u64,
        clock_share: outcome.timing.clock_share,
        line_us: before_us.zip(after_us).map(|(before, after)| [before, after]),
        operations_ns: outcome.operations_ns.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Timing;

    fn outcome(samples_ps: &[f64], stop_reason: StopReason) -> Outcome {
        let timing = Timing {
            events_per_sample: 2,
            clock_share: 0.01,
            start: "none".into(),
            late_starts: 3,
            spent_s: 0.5,
        };
        let (samples_ps, warm_up_ps) = (samples_ps.to_vec(), vec![1.0]);
        let mut outcome = Outcome {
            samples_ps,
            warm_up_ps,
            stop_reason,
            timing,
            operations_ns: vec![0.1],
            repetitions: Vec::new(),
        };
        outcome.repetitions = vec![only(&outcome, Some(0.1), Some(0.2))];
        outcome
    }

    #[test]
    fn repetitions_are_put_together_and_told_apart() {
        let earlier = |samples: &[f64]| Earlier {
            more: Parameters::new(),
            outcome: outcome(samples, StopReason::Precision),
        };
        let settings = Settings::default();
        let mut second = outcome(&[5.0; 40], StopReason::TimeLimit);
        second.timing.clock_share = 0.08;
        let both = earlier(&[5.0; 30]).and(second, &settings);
        // 70 equal samples are precise, regardless of the last repetition alone.
        assert_eq!((both.samples_ps.len(), both.stop_reason), (70, StopReason::Precision));
        assert_eq!(both.repetitions.iter().map(|one| one.samples).collect::<Vec<_>>(), [30, 40]);
        // A sample's share of the clock is 30 times 0.01 and 40 times 0.08: 3.5 of 70.
        assert!((both.timing.clock_share - 0.05).abs() < 1e-12, "{:?}", both.timing);
        assert_eq!((both.timing.spent_s, both.timing.late_starts), (1.0, 6));
        // Two states: each repetition agrees with itself, both together do not.
        let differing =
            earlier(&[5.0; 30]).and(outcome(&[9.0; 30], StopReason::Precision), &settings);
        assert_eq!(differing.stop_reason, StopReason::TimeLimit);
    }
}
