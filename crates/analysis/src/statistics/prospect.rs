//! What further instances will probably show of a miss rate.
//!
//! Bursts of misses count as single events, whose number is Poisson distributed: its root has a standard deviation of
//! about 1/2, whatever the mean. From n events follows that at most (sqrt(n + 1) + z/2)^2 and at least (sqrt(n) -
//! z/2)^2 are to be expected, with the confidence of which z is the normal quantile.

use super::bursts::MissRate;
use crate::student;

/// Distance from the root of the mean that the root of a count keeps on one side in four of five cases.
const PROBABLY: f64 = 0.42;

/// A permitted miss rate, and the confidence with which it must be proven or refuted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    permitted: f64,
    /// Distance between the roots of a count and of its bound.
    reach: f64,
}

impl Prospect {
    /// Creates it for a permitted share of misses and a one-sided confidence, above 0.5.
    pub fn new(permitted: f64, confidence: f64) -> Self {
        let reach = student::normal_two_sided(2.0 * confidence - 1.0) / 2.0;
        Prospect { permitted, reach }
    }

    /// Returns whether so many new instances would probably prove the permitted rate, after `rate` was observed. Half an
    /// event is added to those observed, so that none does not mean that there will be none.
    pub fn is_provable(self, rate: &MissRate, instances: f64) -> bool {
        let ratio = instances / rate.instances.max(1) as f64;
        let expected = (rate.missed as f64 / rate.clustering + 0.5) * ratio;
        let permitted = self.permitted * instances / rate.clustering;
        self.most(permitted) >= (expected.sqrt() + PROBABLY).powi(2)
    }

    /// Returns whether so many new instances would probably refute the permitted rate, after `rate` was observed.
    pub fn is_refutable(self, rate: &MissRate, instances: f64) -> bool {
        let ratio = instances / rate.instances.max(1) as f64;
        let expected = rate.missed as f64 / rate.clustering * ratio;
        let permitted = self.permitted * instances / rate.clustering;
        expected.sqrt() - PROBABLY > permitted.sqrt() + self.reach
    }

    /// Returns whether instances that begin with those of `so_far` have a chance to prove the permitted rate: if the
    /// `rest` of them misses no more than one in five with the true rate `expected` would.
    pub fn has_a_chance(self, so_far: &MissRate, rest: f64, expected: f64) -> bool {
        let events = |misses: f64| misses / so_far.clustering;
        let lucky = (events(expected * rest).sqrt() - PROBABLY).max(0.0).powi(2);
        let all = so_far.instances as f64 + rest;
        self.most(events(self.permitted * all)) >= events(so_far.missed as f64) + lucky
    }

    /// Returns the number of events that prove that at most this number is to be expected; negative if none does.
    fn most(self, permitted: f64) -> f64 {
        let root = permitted.sqrt() - self.reach;
        if root < 0.0 { -1.0 } else { root.powi(2) - 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{misses_allowed, probability_max, trials_needed};
    use random::SplitMix64;

    const PERCENT: Prospect = Prospect { permitted: 0.01, reach: 1.0 };

    /// Returns a miss rate of which only these fields count here.
    fn rate(missed: u64, instances: u64, clustering: f64) -> MissRate {
        MissRate { missed, instances, clustering, min: 0.0, max: 1.0 }
    }

    #[test]
    fn what_is_provable_by_hand() {
        // 50 of 5000 are permitted: (7.07 - 1)^2 - 1 = 35.9. Expected are 5 times as many as were observed and half a
        // one more: (sqrt(2.5) + 0.42)^2 = 4, (sqrt(27.5) + 0.42)^2 = 32.1, (sqrt(32.5) + 0.42)^2 = 37.5.
        let is_provable =
            |missed, clustering| PERCENT.is_provable(&rate(missed, 1000, clustering), 5000.0);
        assert!(is_provable(0, 1.0) && is_provable(5, 1.0) && !is_provable(6, 1.0));
        // In bursts of 5, 10 are permitted: (3.16 - 1)^2 - 1 = 3.7. One observed burst stands for 7.5.
        assert!(!is_provable(5, 5.0));
    }

    #[test]
    fn what_is_refutable_by_hand() {
        // 10 of 1000 are permitted: sqrt(10) + 1 = 4.16. sqrt(20) - 0.42 = 4.05, and sqrt(22) - 0.42 = 4.27.
        let is_refutable =
            |missed, clustering| PERCENT.is_refutable(&rate(missed, 1000, clustering), 1000.0);
        assert!(is_refutable(22, 1.0) && !is_refutable(20, 1.0));
        // In bursts of 10, one is permitted: (2 + 0.42)^2 = 5.86 bursts must be expected.
        assert!(is_refutable(59, 10.0) && !is_refutable(58, 10.0));
    }

    #[test]
    fn chances_by_hand() {
        // 25 of 2500 are permitted: (5 - 1)^2 - 1 = 15 at most.
        let has_a_chance =
            |missed, expected| PERCENT.has_a_chance(&rate(missed, 500, 1.0), 2000.0, expected);
        assert!(has_a_chance(15, 0.0) && !has_a_chance(16, 0.0));
        // The rest is expected to miss 9, and (3 - 0.42)^2 = 6.7 with some luck.
        assert!(has_a_chance(8, 0.0045) && !has_a_chance(9, 0.0045));
    }

    #[test]
    fn bounds_agree_with_exact_ones() {
        for confidence in [0.95, 0.975, 0.99] {
            let prospect = Prospect::new(0.01, confidence);
            let needed = 0.01 * trials_needed(0.01, confidence) as f64;
            assert!(prospect.most(1.2 * needed) >= 0.0, "{confidence}");
            assert!(prospect.most(0.9 * needed) < 0.0, "{confidence}");
            for instances in [1000_u64, 3000, 10_000, 30_000] {
                let exact = misses_allowed(instances, 0.01, confidence).unwrap() as f64;
                let most = prospect.most(0.01 * instances as f64);
                assert!((most - 1.0..=most + 1.0).contains(&exact), "{exact}, {most}");
            }
        }
    }

    #[test]
    fn four_in_five_proofs_at_the_limit_succeed() {
        let confidence = 0.975;
        let prospect = Prospect::new(0.01, confidence);
        let seed = 1;
        let mut random = SplitMix64::new(seed);
        for permitted in [20.0_f64, 50.0, 150.0] {
            let instances = (permitted / 0.01) as u64;
            let expected = (prospect.most(permitted).sqrt() - PROBABLY).powi(2);
            let share = expected / instances as f64;
            let is_proven = |_: &u32| {
                let missed = (0..instances).filter(|_| random.uniform() < share).count() as u64;
                probability_max(missed, instances, confidence) <= 0.01
            };
            let proven = (0..400).filter(is_proven).count();
            // 320 of 400 are expected, with a standard deviation of 8. Counts are whole, and the bounds approximate.
            assert!((288..=372).contains(&proven), "seed {seed}: {permitted}: {proven} of 400");
        }
    }
}
