//! The nonparametric confidence interval of the median.

use super::sample::Sample;

/// An interval that covers the median of the distribution from which a sample was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    /// The lower end, one of the samples.
    pub low: f64,
    /// The upper end, one of the samples.
    pub high: f64,
    /// Confidence that it reaches for independent samples of any continuous distribution (with ties it covers even more
    /// often). At least the requested one, or less if even the whole range of so few samples does not reach it.
    pub confidence: f64,
}

/// Returns the narrowest interval between two order statistics at equal ranks from both ends, with at least the
/// requested `confidence`; if there is none, the whole range with its confidence.
///
/// Each sample is below the median of its distribution with probability 1/2, for any distribution, so the number of
/// samples below it is binomial B(n, 1/2). The interval from the k-th smallest to the k-th largest misses the median
/// only if fewer than k samples are below it, or fewer than k above. Its confidence is 1 - 2 P(B(n, 1/2) < k) (e.g.
/// Conover, *Practical Nonparametric Statistics*, section 3.2).
///
/// # Panics
/// If `confidence` is not between 0 and 1.
pub fn median_interval(sample: &Sample, confidence: f64) -> MedianInterval {
    assert!(
        0.0 < confidence && confidence < 1.0,
        "a confidence lies between 0 and 1, not at {confidence}"
    );
    let (rank, confidence) = interval_rank(sample.len(), confidence);
    let sorted = sample.sorted();
    MedianInterval { low: sorted[rank - 1], high: sorted[sorted.len() - rank], confidence }
}

impl MedianInterval {
    /// Returns whether there were enough samples for this confidence.
    pub fn reaches(&self, confidence: f64) -> bool {
        reaches(self.confidence, confidence)
    }

    /// Returns half the width as a share of the median: 0 if the interval is a point, infinite around a median of 0.
    pub fn relative_half_width(&self, median: f64) -> f64 {
        let half_width = (self.high - self.low) / 2.0;
        if half_width == 0.0 { 0.0 } else { half_width / median.abs() }
    }
}

/// Returns whether a computed confidence reaches the requested one. A decimal such as 0.96875, which six samples reach
/// exactly, must not fail because of the rounding of a sum.
pub(crate) fn reaches(computed: f64, wanted: f64) -> bool {
    const ROUNDING: f64 = 1e-12;
    computed >= wanted - ROUNDING
}

/// Returns the largest rank k, counted from 1, whose interval of `n` samples reaches `confidence`, and its confidence.
/// Returns rank 1, the whole range, if none does.
fn interval_rank(n: usize, confidence: f64) -> (usize, f64) {
    let (m, odd) = (n / 2, n % 2 == 1);
    // The loop goes from the middle outwards, about z sqrt(n) / 2 steps. `at` is P(B = k - 1), `below` is P(B < k).
    let middle = probability_of_half(m);
    let (mut rank, mut at, mut below) = if odd {
        // n = 2m + 1: P(B = m) = C(2m + 1, m) / 2^n = C(2m, m) / 2^2m (2m + 1) / (2m + 2), and P(B < m + 1) = 1/2.
        (m + 1, middle * (2 * m + 1) as f64 / (2 * m + 2) as f64, 0.5)
    } else {
        // n = 2m: P(B = m - 1) = P(B = m) m / (m + 1), and P(B < m) = (1 - P(B = m)) / 2.
        (m, middle * m as f64 / (m + 1) as f64, (1.0 - middle) / 2.0)
    };
    while rank > 1 && !reaches(1.0 - 2.0 * below, confidence) {
        below -= at;
        rank -= 1;
        // P(B = j - 1) = P(B = j) j / (n - j + 1), from j = rank.
        at *= rank as f64 / (n - rank + 1) as f64;
    }
    (rank, 1.0 - 2.0 * below)
}

/// Returns P(B(2m, 1/2) = m) = C(2m, m) / 2^2m, as the product of (2i - 1) / 2i. Half a million factors take about a
/// millisecond, a small part of sorting the million samples that need them, and lose at most 10 of 52 bits.
fn probability_of_half(m: usize) -> f64 {
    (1..=m).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::DISTRIBUTIONS;
    use random::SplitMix64;

    fn ranks(n: usize) -> Sample {
        Sample::new((1..=n).map(|i| i as f64).collect::<Vec<_>>()).unwrap()
    }

    fn check(n: usize, confidence: f64, low: f64, high: f64, reached: f64) {
        let interval = median_interval(&ranks(n), confidence);
        assert_eq!((interval.low, interval.high), (low, high), "n = {n}");
        assert!((interval.confidence - reached).abs() < 1e-12, "n = {n}: {}", interval.confidence);
    }

    #[test]
    fn five_samples_cannot_reach_95_percent_and_say_so() {
        // The range misses with all below or all above: 2 / 2^5. 1 - 2/32 = 0.9375.
        check(5, 0.95, 1.0, 5.0, 1.0 - 2.0 / 32.0);
        check(1, 0.95, 1.0, 1.0, 0.0);
        check(2, 0.95, 1.0, 2.0, 0.5);
    }

    #[test]
    fn six_samples_reach_95_percent_with_their_whole_range() {
        // 1 - 2/64 = 0.96875. Ranks 2 to 5 would have 1 - 2 (1 + 6) / 64 = 0.78125.
        check(6, 0.95, 1.0, 6.0, 1.0 - 2.0 / 64.0);
        check(6, 0.96875, 1.0, 6.0, 0.96875);
        check(6, 0.78125, 2.0, 5.0, 0.78125);
    }

    #[test]
    fn ten_samples_use_the_second_and_the_ninth() {
        // k = 2: 1 - 2 (1 + 10) / 1024 = 0.978515625. k = 3: 1 - 2 (1 + 10 + 45) / 1024 = 0.890625.
        check(10, 0.95, 2.0, 9.0, 1.0 - 22.0 / 1024.0);
        check(10, 0.89, 3.0, 8.0, 1.0 - 112.0 / 1024.0);
    }

    #[test]
    fn eleven_samples_use_the_second_and_the_tenth() {
        // k = 2: 1 - 2 (1 + 11) / 2048 = 0.98828125. k = 3: 1 - 2 (1 + 11 + 55) / 2048 = 0.9345703125.
        check(11, 0.95, 2.0, 10.0, 1.0 - 24.0 / 2048.0);
        check(11, 0.93, 3.0, 9.0, 1.0 - 134.0 / 2048.0);
    }

    #[test]
    fn ranks_agree_with_whole_number_arithmetic_for_every_small_n() {
        for n in 1..=100usize {
            for confidence in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
                // Binomial coefficients of up to 100 fit 128 bits; the sum below k is exact.
                let mut coefficient = 1u128;
                let mut sum = 0u128;
                let mut oracle = (1, 1.0 - 2.0 * 0.5f64.powi(n as i32));
                for k in 1..=n.div_ceil(2) {
                    sum += coefficient;
                    coefficient = coefficient * (n - k + 1) as u128 / k as u128;
                    let reached = 1.0 - 2.0 * sum as f64 / 2f64.powi(n as i32);
                    if reached >= confidence {
                        oracle = (k, reached);
                    }
                }
                let (rank, reached) = interval_rank(n, confidence);
                assert_eq!(rank, oracle.0, "n = {n}, confidence {confidence}");
                assert!((reached - oracle.1).abs() < 1e-12, "n = {n}: {reached}");
            }
        }
    }

    #[test]
    fn a_million_samples_agree_with_the_normal_approximation() {
        // k is about (n - z sqrt(n)) / 2 with z = 1.959964: 500000 - 979.98 = 499020.
        let (rank, reached) = interval_rank(1_000_000, 0.95);
        assert!((499_019..=499_021).contains(&rank), "{rank}");
        // One rank corresponds to 2 pmf = 2 * 0.000117, so the confidence exceeds the requested one by less than that.
        assert!((0.95..0.95 + 0.00024).contains(&reached), "{reached}");
    }

    #[test]
    fn the_interval_is_narrower_for_less_confidence() {
        let (loose, _) = interval_rank(1000, 0.9);
        let (tight, _) = interval_rank(1000, 0.99);
        assert!(loose > tight);
    }

    #[test]
    fn half_widths_are_relative_to_the_median() {
        let interval = MedianInterval { low: 8.0, high: 14.0, confidence: 0.95 };
        assert_eq!(interval.relative_half_width(10.0), 0.3);
        assert_eq!(interval.relative_half_width(-10.0), 0.3);
        assert_eq!(interval.relative_half_width(0.0), f64::INFINITY);
        let point = MedianInterval { low: 0.0, high: 0.0, confidence: 0.95 };
        assert_eq!(point.relative_half_width(0.0), 0.0);
    }

    #[test]
    fn intervals_cover_the_median_as_often_as_they_claim() {
        const TRIALS: usize = 4000;
        let mut random = SplitMix64::new(2002);
        for distribution in DISTRIBUTIONS {
            for n in [6, 11, 50, 300] {
                let mut covered = 0;
                let mut claimed = 0.0;
                for _ in 0..TRIALS {
                    let sample = Sample::new(distribution.draws(n, &mut random)).unwrap();
                    let interval = median_interval(&sample, 0.95);
                    claimed = interval.confidence;
                    covered += usize::from(
                        (interval.low..=interval.high).contains(&distribution.median()),
                    );
                }
                let share = covered as f64 / TRIALS as f64;
                // Four standard errors of a binomial share; not wider on the other side where there are no ties.
                let error = 4.0 * (claimed * (1.0 - claimed) / TRIALS as f64).sqrt();
                assert!(share >= claimed - error, "{distribution:?}, n = {n}: {share} < {claimed}");
                if !matches!(distribution, crate::distributions::Distribution::Coarse) {
                    assert!(share <= claimed + error, "{distribution:?}, n = {n}: {share}");
                }
            }
        }
    }
}
