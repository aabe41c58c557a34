//! The end of the warm-up.

/// State of the warm-up after the samples so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// The first `samples` samples belong to it (0 if there is none); those after it keep one level.
    Ended {
        /// Number of its samples.
        samples: usize,
    },
    /// It is not over, or the level changes in the middle: less than half of the samples have the level of the end.
    /// Sampling must continue, up to a limit.
    NotEnded,
}

/// Minimum number of samples for a decision.
const SAMPLES_MIN: usize = 20;

/// Probability that samples without a warm-up seem to have one.
const FALSE_ALARM: f64 = 0.01;

/// Finds the end of the warm-up in samples in the order in which they were taken.
///
/// Pettitt's change-point test (*A non-parametric approach to the change-point problem*, Applied Statistics 28, 1979)
/// finds the place that best separates the ranks of the samples before it from those after it, and the probability of
/// so good a separation by chance. A significant change ends a part of the warm-up. The rest is then tested again,
/// because caches, pages and clock rates settle at different times. Ranks make single spikes harmless, at any height.
/// The level may fall (cold caches) or rise (a turbo clock that ends). A disturbance shorter than about sqrt(n) samples
/// cannot be distinguished from chance by any such test; make a few untimed events before the first sample.
///
/// Values that are not a number count as larger than any other. Samples that depend on their neighbours look like
/// changes, and may be cut where independent ones would not: that loses samples, but not correctness.
pub fn warm_up(samples: &[f64]) -> WarmUp {
    let mut start = 0;
    while samples.len() - start >= SAMPLES_MIN {
        match change_point(&samples[start..]) {
            Some(change) => start += change,
            None => {
                return if start <= samples.len() / 2 {
                    WarmUp::Ended { samples: start }
                } else {
                    WarmUp::NotEnded
                };
            }
        }
    }
    WarmUp::NotEnded
}

/// Returns the number of samples before the change of level, if there is a significant one.
fn change_point(samples: &[f64]) -> Option<usize> {
    let n = samples.len() as f64;
    // U_t = 2 (sum of the first t ranks) - t (n + 1); K is its largest magnitude.
    let (mut sum, mut largest, mut change) = (0.0, 0.0, 0);
    for (index, rank) in ranks(samples).into_iter().enumerate() {
        sum += 2.0 * rank - (n + 1.0);
        if f64::abs(sum) > largest {
            (largest, change) = (f64::abs(sum), index + 1);
        }
    }
    let chance = 2.0 * (-6.0 * largest * largest / (n * n * n + n * n)).exp();
    (chance < FALSE_ALARM).then_some(change)
}

/// Returns the rank of each sample, counted from 1; equal samples share the mean of their ranks.
fn ranks(samples: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_unstable_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let mut ranks = vec![0.0; samples.len()];
    let mut first = 0;
    for tie in order.chunk_by(|&a, &b| samples[a] == samples[b]) {
        let mean = first as f64 + (tie.len() + 1) as f64 / 2.0;
        tie.iter().for_each(|&index| ranks[index] = mean);
        first += tie.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::{DISTRIBUTIONS, Distribution};
    use random::SplitMix64;

    const TRIALS: usize = 1000;

    #[test]
    fn equal_samples_share_the_mean_of_their_ranks() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn a_change_is_found_by_hand() {
        // Ten samples of rank 16 on average, then ten of rank 5.5: U_10 = 2 (11 + ... + 20) - 10 * 21 = 100;
        // 2 exp(-6 * 100^2 / (8000 + 400)) = 2 exp(-7.14) = 0.0016.
        let samples: Vec<f64> =
            (0..20).map(|i| if i < 10 { 20.0 + i as f64 } else { i as f64 }).collect();
        assert_eq!(change_point(&samples), Some(10));
        // Five of twenty: U_5 = 2 (16 + ... + 20) - 5 * 21 = 75; 2 exp(-4.02) = 0.036, which chance may explain.
        let samples: Vec<f64> =
            (0..20).map(|i| if i < 5 { 30.0 } else { (i * 7 % 15) as f64 }).collect();
        assert_eq!(change_point(&samples), None);
    }

    #[test]
    fn too_few_samples_decide_nothing() {
        assert_eq!(warm_up(&[]), WarmUp::NotEnded);
        assert_eq!(warm_up(&[1.0; 19]), WarmUp::NotEnded);
        assert_eq!(warm_up(&[1.0; 20]), WarmUp::Ended { samples: 0 });
    }

    #[test]
    fn steady_noise_is_not_cut() {
        let mut random = SplitMix64::new(1979);
        for distribution in DISTRIBUTIONS {
            for n in [20, 100, 1000] {
                let cut = (0..TRIALS)
                    .filter(|_| {
                        warm_up(&distribution.draws(n, &mut random)) != WarmUp::Ended { samples: 0 }
                    })
                    .count();
                // 1 % of 1000 trials and four standard errors: 10 + 4 sqrt(9.9) = 22.6.
                assert!(cut <= 22, "{distribution:?}, n = {n}: cut in {cut} of {TRIALS} trials");
            }
        }
    }

    /// Returns the end of the warm-up in each trial that finds one. Samples after a warm-up are steady, and are falsely
    /// taken for another change in one trial of a hundred: at most 22 of 1000, as above.
    fn ends(mut samples: impl FnMut() -> Vec<f64>) -> Vec<usize> {
        let mut ends: Vec<usize> = (0..TRIALS)
            .filter_map(|_| match warm_up(&samples()) {
                WarmUp::Ended { samples } => Some(samples),
                WarmUp::NotEnded => None,
            })
            .collect();
        assert!(ends.len() >= TRIALS - 22, "{} of {TRIALS} trials saw an end", ends.len());
        ends.sort_unstable();
        ends
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        let mut random = SplitMix64::new(7);
        for factor in [0.5, 3.0] {
            let ends = ends(|| {
                let mut samples = Distribution::Normal.draws(200, &mut random);
                samples[..40].iter_mut().for_each(|sample| *sample *= factor);
                samples
            });
            // The levels are five standard deviations or more apart, so no sample of the first remains. The largest U
            // may be a little later, because after the step it falls by 40 ranks a sample, with noise of up to 160.
            assert!(ends[0] >= 40, "{}", ends[0]);
            assert!(ends[TRIALS / 2] <= 42 && ends[TRIALS * 9 / 10] <= 52, "{ends:?}");
        }
    }

    #[test]
    fn a_decay_is_cut_down_to_the_noise() {
        let mut random = SplitMix64::new(8);
        let decay = |i: usize| 200.0 * (-(i as f64) / 20.0).exp();
        let ends =
            ends(|| (0..400).map(|i| Distribution::Normal.draw(&mut random) + decay(i)).collect());
        // The remaining decay at the cut, compared with the noise's standard deviation of 10: less in most trials, and
        // less than twice as much in nine of ten.
        assert!(decay(ends[TRIALS / 2]) < 10.0, "{}", decay(ends[TRIALS / 2]));
        assert!(decay(ends[TRIALS / 10]) < 20.0, "{}", decay(ends[TRIALS / 10]));
    }

    #[test]
    fn a_level_that_still_changes_at_the_end_has_not_ended() {
        let mut random = SplitMix64::new(9);
        let mut samples = Distribution::Normal.draws(200, &mut random);
        samples[..150].iter_mut().for_each(|sample| *sample *= 3.0);
        assert_eq!(warm_up(&samples), WarmUp::NotEnded);
        let ramp: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(warm_up(&ramp), WarmUp::NotEnded);
    }

    #[test]
    fn spikes_are_no_warm_up() {
        let mut random = SplitMix64::new(10);
        let mut samples = Distribution::Normal.draws(200, &mut random);
        for spike in [0, 1, 50, 51, 52] {
            samples[spike] = 1e9;
        }
        assert_eq!(warm_up(&samples), WarmUp::Ended { samples: 0 });
    }
}
