//! The miss rate that a period must meet, the proof by its instances, and what each of these must meet.

use contract::TimeSpan;
use record::Required;

use analysis::statistics::{MissRate, Prospect, miss_rate, trials_needed};

/// Largest miss rate of a sustained period, and the confidence with which it must be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Acceptance {
    pub(super) miss_rate: f64,
    pub(super) confidence: f64,
}

/// Decision of all trials of a period together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Sustained,
    Refused,
    Unclear,
}

impl Acceptance {
    /// Returns the acceptance for the `attempt`-th of several periods (counted from 1), the first sustained one of
    /// which is reported. The error probabilities of the attempts are a half, a sixth, a twelfth ... of the requested
    /// one, so their sum does not exceed it.
    pub(super) fn of_attempt(self, attempt: u32) -> Acceptance {
        let share = f64::from(attempt) * (f64::from(attempt) + 1.0);
        Acceptance { confidence: 1.0 - (1.0 - self.confidence) / share, ..self }
    }

    /// Returns what new instances will probably show of the requested rate.
    pub(super) fn prospect(self) -> Prospect {
        Prospect::new(self.miss_rate, self.confidence)
    }

    /// Returns the number of instances without a miss that prove the requested rate.
    pub(super) fn instances_needed(self) -> u64 {
        trials_needed(self.miss_rate, self.confidence)
    }

    /// Returns the miss rate of instances, each missed or not.
    pub(super) fn rate(self, missed: &[bool]) -> MissRate {
        miss_rate(missed, self.confidence)
    }

    /// Returns the verdict on a miss rate. If there are too few instances to prove the requested rate, the period is
    /// sustained if none of them is missed.
    pub(super) fn verdict(self, rate: &MissRate) -> Verdict {
        let too_few = rate.instances < self.instances_needed();
        match () {
            () if self.is_proven(rate) || (too_few && rate.missed == 0) => Verdict::Sustained,
            () if rate.min > self.miss_rate => Verdict::Refused,
            () => Verdict::Unclear,
        }
    }

    /// Returns whether the miss rate is proven to be at most the requested one.
    pub(super) fn is_proven(self, rate: &MissRate) -> bool {
        rate.max <= self.miss_rate
    }
}

/// Limits of an instance besides its deadline, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) latency_ps: u64,
    pub(super) jitter_ps: u64,
}

/// No limits.
impl Default for Limits {
    fn default() -> Self {
        Limits { latency_ps: u64::MAX, jitter_ps: u64::MAX }
    }
}

impl Limits {
    /// Returns the limits of what is required.
    pub(super) fn of(required: Option<Required>) -> Limits {
        let ps = |us: Option<f64>| us.map_or(u64::MAX, |us| TimeSpan::from_s(us / 1e6).as_ps());
        let Required { latency_us, jitter_us } = required.unwrap_or_default();
        Limits { latency_ps: ps(latency_us), jitter_ps: ps(jitter_us) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCEPTANCE: Acceptance = Acceptance { miss_rate: 0.01, confidence: 0.95 };

    /// Returns the verdict on `instances` instances, `missed` of which are missed, in a row or evenly spread.
    fn verdict(missed: usize, instances: usize, in_a_row: bool) -> (Verdict, bool) {
        let mut all = vec![false; instances];
        let step = if in_a_row { 1 } else { instances / missed.max(1) };
        (0..missed)
            .for_each(|miss| all[instances / 3 * usize::from(in_a_row) + miss * step] = true);
        let rate = ACCEPTANCE.rate(&all);
        (ACCEPTANCE.verdict(&rate), ACCEPTANCE.is_proven(&rate))
    }

    #[test]
    fn all_attempts_together_err_no_more_often_than_one_may() {
        let errors = (1..=1000).map(|attempt| 1.0 - ACCEPTANCE.of_attempt(attempt).confidence);
        // 5 % * (1 - 1/1001): 1 / (k (k + 1)) = 1/k - 1/(k + 1).
        assert!((errors.sum::<f64>() - 0.05 * 1000.0 / 1001.0).abs() < 1e-12);
        // ln 0.025 / ln 0.99 = 367.04
        assert_eq!(ACCEPTANCE.of_attempt(1).instances_needed(), 368);
    }

    #[test]
    fn few_instances_must_all_be_met_and_prove_nothing() {
        assert_eq!(verdict(0, 100, false), (Verdict::Sustained, false));
        // 1 of 100 is the permitted rate, so it shows nothing either way.
        assert_eq!(verdict(1, 100, false).0, Verdict::Unclear);
        assert_eq!(verdict(16, 16, false).0, Verdict::Refused);
    }

    #[test]
    fn enough_instances_prove_the_rate_and_forgive_some() {
        assert_eq!(ACCEPTANCE.instances_needed(), 299);
        assert_eq!(verdict(0, 299, false), (Verdict::Sustained, true));
        // 0.99^n + n 0.01 0.99^(n-1) falls to 5 % at n = 473.
        assert_eq!(verdict(1, 472, false).0, Verdict::Unclear);
        assert_eq!(verdict(1, 473, false), (Verdict::Sustained, true));
    }

    #[test]
    fn a_burst_refuses_no_period_and_proves_none() {
        // Spread out, 40 of 2000 are twice the permitted rate: at 1 %, 2000 would have so many misses once in 10^5
        // times.
        assert_eq!(verdict(40, 2000, false).0, Verdict::Refused);
        // In a row they may have had one cause, which occurs once in 2000 or once in 10 000 instances.
        assert_eq!(verdict(40, 2000, true).0, Verdict::Unclear);
        assert_eq!(verdict(10, 2000, true).0, Verdict::Unclear);
    }
}
