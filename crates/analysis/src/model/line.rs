//! A straight line of time over message size, by weighted least squares, with intervals.

use serde::Serialize;

use crate::student;

/// A measured time at one message size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The median time in microseconds, above 0.
    pub median_us: f64,
    /// The lower end of its interval.
    pub ci_low_us: f64,
    /// The upper end of its interval.
    pub ci_high_us: f64,
}

/// A fitted value and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The fitted value.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// Upper end; infinite if the data determine no bound.
    pub high: f64,
}

/// The model t = t_l + N t_c with quantities derived from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StraightLine {
    /// t_l, the time of an empty message in microseconds. No message takes less time than
    /// none, so it and its interval end at 0, where the line itself may begin below.
    pub latency_us: Estimate,
    /// t_c, the time that each byte adds, in microseconds.
    pub us_per_byte: Estimate,
    /// 1 / t_c, the rate that long messages approach, in MB/s. `None` if t_c is not above 0: size does not matter.
    pub rate_mb_per_s: Option<Estimate>,
    /// t_l / t_c, the message size at which half that rate is reached, in bytes (Hockney's n_1/2). `None` if t_l or t_c
    /// is not above 0.
    pub half_performance_bytes: Option<Estimate>,
}

/// Permitted deviation of the line from a median, as a share of it.
pub const TOLERANCE: f64 = 0.1;

/// The model's own deviation, as a share of the time, because no machine follows a line exactly. It is half of
/// [`TOLERANCE`], so that a failure is two standard errors.
const MODEL_ERROR: f64 = TOLERANCE / 2.0;

impl Point {
    /// Returns the weight in a fit: 1 / (standard error)^2. The error combines that of the measurement, a quarter of
    /// its interval's width (nearly exact for 95 %), and that of the model, 5 % of the median. The points at 8 bytes
    /// and at 4 MiB therefore count alike, while plain least squares would fit the largest sizes only. A point that is
    /// exact to one part in a thousand does not determine the line, and one that did not converge hardly counts.
    fn weight(&self) -> f64 {
        let measured = (self.ci_high_us - self.ci_low_us) / 4.0;
        measured.hypot(MODEL_ERROR * self.median_us).powi(-2)
    }
}

/// Sums of a weighted least-squares fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineFit {
    n: usize,
    weight: f64,
    mean_size: f64,
    mean_time: f64,
    /// Sum of w (N - mean)^2.
    size_spread: f64,
    time_spread: f64,
    intercept: f64,
    slope: f64,
}

impl LineFit {
    /// Fits `points`, which have two different sizes or more.
    pub(super) fn new(points: &[Point]) -> Self {
        let sum = |term: &dyn Fn(&Point) -> f64| {
            points.iter().map(|point| point.weight() * term(point)).sum::<f64>()
        };
        let weight = sum(&|_| 1.0);
        let mean_size = sum(&|point| point.size_bytes as f64) / weight;
        let mean_time = sum(&|point| point.median_us) / weight;
        let size_spread = sum(&|point| (point.size_bytes as f64 - mean_size).powi(2));
        let time_spread = sum(&|point| (point.median_us - mean_time).powi(2));
        let slope =
            sum(&|point| (point.size_bytes as f64 - mean_size) * (point.median_us - mean_time))
                / size_spread;
        let intercept = mean_time - slope * mean_size;
        LineFit {
            n: points.len(),
            weight,
            mean_size,
            mean_time,
            size_spread,
            time_spread,
            intercept,
            slope,
        }
    }

    pub(super) fn at(&self, size_bytes: u64) -> f64 {
        // Computed from the mean, because the intercept may have lost digits to a long extrapolation.
        self.mean_time + self.slope * (size_bytes as f64 - self.mean_size)
    }

    /// Returns the sum of the squared residuals, in standard errors of the points.
    pub(super) fn residual_sum(&self, points: &[Point]) -> f64 {
        points
            .iter()
            .map(|point| point.weight() * (point.median_us - self.at(point.size_bytes)).powi(2))
            .sum()
    }

    /// Returns the share of the weighted variance of the times that the line explains.
    pub(super) fn r_squared(&self, points: &[Point]) -> f64 {
        if self.time_spread == 0.0 {
            1.0
        } else {
            1.0 - self.residual_sum(points) / self.time_spread
        }
    }

    /// Returns the line with intervals at `confidence`, from three points or more. The weights are assumed known up to
    /// a common factor, which the residuals determine: a line that fits badly has wide intervals, even if its points
    /// are precise.
    pub(super) fn line(&self, points: &[Point], confidence: f64) -> StraightLine {
        let freedom = self.n - 2;
        let t = student::two_sided(confidence, freedom);
        let variance = self.residual_sum(points) / freedom as f64;
        let slope_variance = variance / self.size_spread;
        let intercept_variance = variance / self.weight + self.mean_size.powi(2) * slope_variance;
        let covariance = -self.mean_size * slope_variance;
        let us_per_byte = Estimate::around(self.slope, t * slope_variance.sqrt());
        StraightLine {
            latency_us: Estimate::around(self.intercept, t * intercept_variance.sqrt())
                .not_negative(),
            us_per_byte,
            rate_mb_per_s: us_per_byte.reciprocal(),
            half_performance_bytes: (self.slope > 0.0 && self.intercept > 0.0).then(|| {
                let square = |variance: f64| t * t * variance;
                fieller(
                    [self.intercept, self.slope],
                    [square(intercept_variance), square(covariance), square(slope_variance)],
                )
            }),
        }
    }
}

impl Estimate {
    fn around(value: f64, half_width: f64) -> Self {
        Estimate { value, low: value - half_width, high: value + half_width }
    }

    /// Returns it without what is below zero.
    fn not_negative(self) -> Self {
        let [value, low, high] = [self.value, self.low, self.high].map(|end| end.max(0.0));
        Estimate { value, low, high }
    }

    /// Returns 1 / x if x is above 0. Its interval is unbounded if that of x reaches 0.
    fn reciprocal(self) -> Option<Estimate> {
        (self.value > 0.0).then(|| Estimate {
            value: 1.0 / self.value,
            low: 1.0 / self.high,
            high: if self.low > 0.0 { 1.0 / self.low } else { f64::INFINITY },
        })
    }
}

/// Returns the interval of a ratio a / b of two positive estimates with `[var a, cov, var b]` times t^2, by Fieller's
/// theorem (*Some problems in interval estimation*, J. R. Statist. Soc. B 16, 1954): all r for which a - r b may be 0.
/// A ratio of sizes is not below 0. It has no upper bound if b may be 0.
fn fieller([a, b]: [f64; 2], [var_a, covariance, var_b]: [f64; 3]) -> Estimate {
    let value = a / b;
    // (a - r b)^2 = var_a - 2 r cov + r^2 var_b, as p r^2 - 2 q r + c = 0.
    let (p, q, c) = (b * b - var_b, a * b - covariance, a * a - var_a);
    let root = (q * q - p * c).max(0.0).sqrt();
    if p > 0.0 {
        let low = ((q - root) / p).max(0.0);
        Estimate { value, low: low.min(value), high: ((q + root) / p).max(value) }
    } else {
        // If b may be 0, the ratio is at most bounded below: by the root below the estimate, if a cannot be 0.
        let low = if c > 0.0 { c / (q + root) } else { 0.0 };
        Estimate { value, low: low.clamp(0.0, value), high: f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_the_errors_of_the_measurement_and_of_the_model() {
        // A quarter of 2 us, and 5 % of 10 us: 0.5^2 + 0.5^2 = 1/2.
        let point = Point { size_bytes: 8, median_us: 10.0, ci_low_us: 9.0, ci_high_us: 11.0 };
        assert!((point.weight() - 2.0).abs() < 1e-12);
        let exact = Point { ci_low_us: 10.0, ci_high_us: 10.0, ..point };
        assert!((exact.weight() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_ratio_by_hand() {
        // a = 10 +- 1, b = 2 +- 0.2, independent: (4 - 0.04) r^2 - 40 r + (100 - 1) = 0, so
        // r = (20 +- sqrt(400 - 3.96 * 99)) / 3.96 = (20 +- 2.821) / 3.96.
        let ratio = fieller([10.0, 2.0], [1.0, 0.0, 0.04]);
        let root = (400.0f64 - 3.96 * 99.0).sqrt();
        assert_eq!(ratio.value, 5.0);
        assert!((ratio.low - (20.0 - root) / 3.96).abs() < 1e-12);
        assert!((ratio.high - (20.0 + root) / 3.96).abs() < 1e-12);
    }

    #[test]
    fn a_divisor_that_may_be_zero_leaves_the_ratio_unbounded() {
        // b = 2 +- 4, a = 10 +- 1: (4 - 16) r^2 - 40 r + 99 = 0; 12 r^2 + 40 r - 99 = 0: r = 1.654 (and -4.99).
        let ratio = fieller([10.0, 2.0], [1.0, 0.0, 16.0]);
        assert!((ratio.low - (-20.0 + (400.0f64 + 12.0 * 99.0).sqrt()) / 12.0).abs() < 1e-12);
        assert_eq!(ratio.high, f64::INFINITY);
        // With a = 10 +- 11 the ratio has no bound.
        assert_eq!(fieller([10.0, 2.0], [121.0, 0.0, 16.0]).low, 0.0);
    }
}
