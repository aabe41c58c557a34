//! The correlation of samples of one run with their neighbours.

use crate::student;

/// Number of blocks into which a run is cut. Few, so that each is longer than most disturbances of the machine (a noisy
/// neighbour, a clock rate), but enough to estimate their spread.
const BLOCKS: usize = 10;

/// Degrees of freedom of the blocks' spread.
pub(super) const FREEDOM: usize = BLOCKS - 1;

/// Minimum number of samples in a block.
const BLOCK_SAMPLES_MIN: usize = 3;

/// Returns the factor, at least 1, by which the interval of the `median` of these samples, in the order in which they
/// were taken, must be wider than that of as many independent ones. It is counted in ranks, at `confidence`.
///
/// The median varies with the number of samples that are below the true one. The series to examine is therefore whether
/// each sample is below the median (half, if it is equal). If samples were independent, the means over blocks of m
/// would vary by 1/m of the series' own variance. The factor by which they vary more is the inflation of the variance
/// (the method of batch means: Law and Kelton, *Simulation Modeling and Analysis*, chapter 9). As the blocks are few,
/// Student's t with their degrees of freedom replaces the normal quantile. A factor below 1 would be chance, and is not
/// used.
pub(super) fn widening(samples: &[f64], median: f64, confidence: f64) -> f64 {
    let uncertainty =
        student::two_sided(confidence, FREEDOM) / student::normal_two_sided(confidence);
    (variance_inflation(samples, median).sqrt() * uncertainty).max(1.0)
}

/// Returns the variance of the block means over that of independent samples; 0 if samples are too few or all equal.
fn variance_inflation(samples: &[f64], median: f64) -> f64 {
    let block = samples.len() / BLOCKS;
    if block < BLOCK_SAMPLES_MIN {
        return 0.0;
    }
    let below = |value: f64| {
        if value < median {
            1.0
        } else if value == median {
            0.5
        } else {
            0.0
        }
    };
    // If the division leaves a remainder, samples are left out at the beginning: if the run is not quite steady, it is
    // there.
    let used = &samples[samples.len() - block * BLOCKS..];
    let own = variance(used.iter().map(|&value| below(value)));
    let between = variance(
        used.chunks_exact(block)
            .map(|chunk| chunk.iter().map(|&value| below(value)).sum::<f64>() / block as f64),
    );
    if own == 0.0 { 0.0 } else { between * block as f64 / own }
}

fn variance(values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let n = values.len() as f64;
    let mean = values.clone().sum::<f64>() / n;
    values.map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::autoregressive;
    use random::SplitMix64;

    #[test]
    fn few_or_equal_samples_are_not_widened() {
        assert_eq!(widening(&[], 2.0, 0.95), 1.0);
        assert_eq!(widening(&[1.0, 2.0, 3.0], 2.0, 0.95), 1.0);
        assert_eq!(widening(&[5.0; 100], 5.0, 0.95), 1.0);
    }

    #[test]
    fn two_levels_by_hand() {
        // 50 low samples, then 50 high: the series is 50 ones and 50 zeros, with variance 100 / 4 / 99; its ten block
        // means are five ones and five zeros, with variance 10 / 4 / 9. The factor: 10 (2.5 / 9) / (25 / 99) = 11.
        let samples: Vec<f64> = (0..100).map(|i| if i < 50 { 1.0 } else { 2.0 }).collect();
        assert!((variance_inflation(&samples, 1.5) - 11.0).abs() < 1e-9);
        // The interval: sqrt(11) t / z = 3.3166 * 2.2622 / 1.9600 = 3.828.
        assert!((widening(&samples, 1.5, 0.95) - 3.828).abs() < 0.005);
    }

    #[test]
    fn an_autoregressive_series_is_inflated_as_theory_says() {
        // AR(1) with 0.6: the signs correlate by (2 / pi) asin(0.6^k), and 1 + 2 sum over k = 1.. is 2.84.
        let theory = 1.0
            + 2.0
                * (1..60).map(|k| std::f64::consts::FRAC_2_PI * 0.6f64.powi(k).asin()).sum::<f64>();
        let mut random = SplitMix64::new(5);
        let found: f64 = (0..400)
            .map(|_| variance_inflation(&autoregressive(&mut random, 0.6, 2000), 0.0))
            .sum::<f64>()
            / 400.0;
        // Ten blocks leave an error of sqrt(2 / 9) a trial, so 0.024 of the mean of 400.
        assert!((found / theory - 1.0).abs() < 0.08, "{found} for {theory}");
    }
}
