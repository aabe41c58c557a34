//! What is asked of a period, and whether the instances of a trial show it.

use analysis::statistics::{misses_allowed, probability_max, trials_needed};

/// A miss rate, and how sure one wants to be of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) miss_rate: f64,
    pub(super) confidence: f64,
}

/// What a count of misses says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) miss_rate_max: f64,
    pub(super) sustained: bool,
    pub(super) proven: bool,
}

impl Wanted {
    /// How many instances without a miss show the wanted rate.
    pub(super) fn instances_needed(self) -> u64 {
        trials_needed(self.miss_rate, self.confidence)
    }

    /// How many of `instances` may be missed in a trial that counts. Too few instances to show the wanted rate
    /// must all be met.
    pub(super) fn misses_allowed(self, instances: u64) -> u64 {
        misses_allowed(instances, self.miss_rate, self.confidence).unwrap_or(0)
    }

    pub(super) fn verdict(self, missed: u64, instances: u64) -> Verdict {
        let miss_rate_max = probability_max(missed, instances, self.confidence);
        Verdict {
            miss_rate_max,
            sustained: missed <= self.misses_allowed(instances),
            proven: miss_rate_max <= self.miss_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted { miss_rate: 0.01, confidence: 0.95 };

    #[test]
    fn few_instances_must_all_be_met_and_prove_nothing() {
        let verdict = WANTED.verdict(0, 100);
        assert!(verdict.sustained && !verdict.proven);
        assert!(!WANTED.verdict(1, 100).sustained);
    }

    #[test]
    fn enough_instances_prove_the_rate_and_forgive_some() {
        assert_eq!(WANTED.instances_needed(), 299);
        assert!(WANTED.verdict(0, 299).proven);
        // 0.99^n + n 0.01 0.99^(n-1) falls to 5 % at n = 473.
        assert_eq!((WANTED.misses_allowed(472), WANTED.misses_allowed(473)), (0, 1));
        assert!(WANTED.verdict(1, 473).proven);
        assert!(!WANTED.verdict(2, 473).sustained);
    }
}
