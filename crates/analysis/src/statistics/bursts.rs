//! The miss rate of misses that come in bursts.
//!
//! A pause of the machine misses every instance that it covers, so misses are not independent: twenty misses in one
//! burst show no more than one miss among a twentieth of the instances. The strength of the clustering follows from the
//! blocks of a trial: it is the variance of the number of misses in a block over that of independent misses. Both
//! counts are divided by that factor, and the exact bounds are those of the quotients (the design effect of survey
//! sampling: Kish, *Survey Sampling*, 1965, section 8.2).

use super::proportion::probability_max;

/// The miss rate, with bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissRate {
    /// The number of misses.
    pub missed: u64,
    /// Number of instances.
    pub instances: u64,
    /// The number of misses that count as one independent miss; at least 1.
    pub clustering: f64,
    /// One-sided lower confidence bound of the rate.
    pub min: f64,
    /// One-sided upper confidence bound of the rate.
    pub max: f64,
}

/// Number of stretches into which instances are cut to see whether misses cluster; each has at least one instance. The
/// bounds hold for these.
pub(crate) const STRETCHES: usize = 32;

/// Returns the miss rate of instances in their order, with its one-sided bounds at `confidence`.
pub fn miss_rate(missed: &[bool], confidence: f64) -> MissRate {
    let instances = missed.len();
    let length = instances.div_ceil(STRETCHES).max(1);
    let counts: Vec<u64> = missed.chunks(length).map(count).collect();
    let total: u64 = counts.iter().sum();
    MissRate::of(total, instances as u64, clustering(&counts), confidence)
}

impl MissRate {
    fn of(missed: u64, instances: u64, clustering: f64, confidence: f64) -> MissRate {
        let effective = |count: u64| count as f64 / clustering;
        let n = effective(instances).floor().max(1.0).min(instances as f64) as u64;
        // Each is rounded to its own side, so that rounding never narrows the bounds.
        let (fewest, most) = (effective(missed).floor() as u64, effective(missed).ceil() as u64);
        let (min, max) = (
            probability_min(fewest.min(n), n, confidence),
            probability_max(most.min(n), n, confidence),
        );
        MissRate { missed, instances, clustering, min, max }
    }

    /// Returns the miss rate of the instances of both, with bounds at `confidence`. Each miss counts with the clustering
    /// of those beside it.
    pub fn together(self, other: MissRate, confidence: f64) -> MissRate {
        let missed = self.missed + other.missed;
        let weighted = |rate: MissRate| rate.clustering * rate.missed as f64;
        let clustering = match missed {
            0 => 1.0,
            missed => (weighted(self) + weighted(other)) / missed as f64,
        };
        MissRate::of(missed, self.instances + other.instances, clustering, confidence)
    }
}

fn count(block: &[bool]) -> u64 {
    block.iter().filter(|missed| **missed).count() as u64
}

/// Returns the variance of the counts over that of independent rare misses, which is their mean; 1 if it is less, or
/// cannot be determined.
fn clustering(counts: &[u64]) -> f64 {
    let blocks = counts.len() as f64;
    let mean = counts.iter().sum::<u64>() as f64 / blocks;
    if blocks < 2.0 || mean == 0.0 {
        return 1.0;
    }
    let squares: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2)).sum();
    (squares / (blocks - 1.0) / mean).max(1.0)
}

/// Returns the exact lower confidence bound, from the upper bound of the complement.
fn probability_min(count: u64, n: u64, confidence: f64) -> f64 {
    1.0 - probability_max(n - count, n, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    #[test]
    fn both_together_count_all_misses_and_their_bursts() {
        let part =
            |missed, instances, clustering| MissRate::of(missed, instances, clustering, 0.95);
        // 30 misses in bursts of 10 and 10 by themselves: (30 * 10 + 10) / 40 to a burst.
        let all = part(30, 1000, 10.0).together(part(10, 3000, 1.0), 0.95);
        assert_eq!((all.missed, all.instances, all.clustering), (40, 4000, 7.75));
        // 516 bursts are possible, and 5 to 6 were seen.
        assert_eq!(all.max, probability_max(6, 516, 0.95));
        // No miss says nothing of bursts.
        let none = part(0, 299, 1.0);
        assert_eq!(part(30, 1000, 10.0).together(none, 0.95).clustering, 10.0);
        assert_eq!(none.together(none, 0.95).max, probability_max(0, 598, 0.95));
    }

    fn at(instances: usize, missed: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut all = vec![false; instances];
        missed.into_iter().for_each(|index| all[index] = true);
        all
    }

    #[test]
    fn no_miss_and_single_misses_are_bounded_as_independent_ones_are() {
        let none = miss_rate(&at(299, []), 0.95);
        assert_eq!((none.clustering, none.min), (1.0, 0.0));
        assert_eq!(none.max, probability_max(0, 299, 0.95));
        // One in each of four blocks of 40 instances.
        let scattered = miss_rate(&at(1280, [0, 400, 800, 1200]), 0.95);
        assert_eq!((scattered.clustering, scattered.max), (1.0, probability_max(4, 1280, 0.95)));
        assert_eq!(miss_rate(&[], 0.95).max, 1.0);
        assert_eq!((miss_rate(&[true; 64], 0.95)).min, 1.0 - probability_max(0, 64, 0.95));
    }

    #[test]
    fn a_burst_says_as_much_as_one_miss() {
        // 20 misses in one of 32 blocks of 100: the mean is 0.625, the squares are 19.375^2 + 31 * 0.625^2 = 387.5,
        // over 31 that is 12.5, and 12.5 / 0.625 = 20: they count as one.
        let burst = miss_rate(&at(3200, 500..520), 0.95);
        assert_eq!(burst.clustering, 20.0);
        assert_eq!(
            (burst.max, burst.min),
            (probability_max(1, 160, 0.95), 1.0 - probability_max(159, 160, 0.95))
        );
    }

    /// Tests that the bounds contain the true rate with their stated confidence, for bursts of any length.
    #[test]
    fn bounds_hold_for_bursts() {
        let random = &mut SplitMix64::new(7);
        for burst in [1, 5, 20] {
            let (mut above, mut below) = (0, 0);
            let (instances, searches) = (20_000, 400);
            // A burst begins at an instance with this probability. Bursts hardly overlap, so about 0.5 % are missed.
            let chance = 0.005 / f64::from(burst);
            let truth = 1.0 - (1.0 - chance).powi(burst);
            for _ in 0..searches {
                let mut left = 0;
                let missed: Vec<bool> = (0..instances)
                    .map(|_| {
                        left = if random.uniform() < chance { burst } else { (left - 1).max(0) };
                        left > 0
                    })
                    .collect();
                let found = miss_rate(&missed, 0.95);
                above += u32::from(truth > found.max);
                below += u32::from(truth < found.min);
            }
            // 5 % of 400 is 20; more than 36 occur only once in a thousand times.
            assert!(above <= 36 && below <= 36, "bursts of {burst}: {above} {below} of {searches}");
        }
    }
}
