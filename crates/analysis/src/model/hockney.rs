//! Hockney's model: t = t_l + N t_c, the time of a message of N bytes (Grunwald and Reed 1986, equation 1; Hockney and
//! Jesshope, *Parallel Computers*, 1981, for the asymptotic rate and the half-performance length).

use serde::Serialize;

pub use super::line::TOLERANCE;
use super::line::{LineFit, Point, StraightLine};
use super::segments::{Segment, segments};

/// A fitted model, and the sizes at which it fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hockney {
    /// One straight line through all sizes.
    pub line: StraightLine,
    /// The confidence of every interval here.
    pub confidence: f64,
    /// Share of the weighted variance of the times that the line explains. A wide range of sizes raises it; see the
    /// residuals.
    pub r_squared: f64,
    /// Residual of each point, by ascending size.
    pub residuals: Vec<Residual>,
    /// Two or three lines if they explain the times much better than one; else empty.
    pub segments: Vec<Segment>,
}

/// The residual of the line at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual {
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The measured median in microseconds.
    pub measured_us: f64,
    /// The time by the line.
    pub fitted_us: f64,
    /// (measured - fitted) / measured.
    pub relative: f64,
    /// True if the straight line fails here: the time by the line is outside the measurement's interval, and more than
    /// [`TOLERANCE`] from the median.
    pub fails: bool,
}

/// The reason why there is no fit.
#[derive(Clone, Debug, PartialEq)]
pub enum FitError {
    /// Fewer than three sizes: two points always lie on a line.
    TooFewSizes {
        /// Number of sizes.
        sizes: usize,
    },
    /// A size that occurs twice, as when two series are mixed.
    RepeatedSize {
        /// The size.
        size_bytes: u64,
    },
    /// A time that is not above 0, or an interval that does not contain its median.
    BadPoint(Point),
}

/// Fits the model to points in any order, by least squares weighted with each point's own interval, with intervals of
/// the parameters at `confidence` (between 0 and 1) from Student's t.
///
/// # Errors
/// [`FitError`] names the point.
///
/// # Panics
/// If `confidence` is not between 0 and 1.
pub fn fit(points: &[Point], confidence: f64) -> Result<Hockney, FitError> {
    assert!(
        0.0 < confidence && confidence < 1.0,
        "a confidence lies between 0 and 1, not at {confidence}"
    );
    let points = checked(points)?;
    let fit = LineFit::new(&points);
    Ok(Hockney {
        line: fit.line(&points, confidence),
        confidence,
        r_squared: fit.r_squared(&points),
        residuals: points.iter().map(|point| residual(&fit, point)).collect(),
        segments: segments(&points, confidence),
    })
}

/// Sorts the points by size and checks that they can be fitted.
fn checked(points: &[Point]) -> Result<Vec<Point>, FitError> {
    let sound = |point: &Point| {
        point.median_us > 0.0
            && point.ci_high_us.is_finite()
            && point.ci_low_us <= point.median_us
            && point.median_us <= point.ci_high_us
    };
    if let Some(bad) = points.iter().find(|point| !sound(point)) {
        return Err(FitError::BadPoint(*bad));
    }
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.size_bytes);
    if let Some(pair) = points.windows(2).find(|pair| pair[0].size_bytes == pair[1].size_bytes) {
        return Err(FitError::RepeatedSize { size_bytes: pair[0].size_bytes });
    }
    if points.len() < 3 {
        return Err(FitError::TooFewSizes { sizes: points.len() });
    }
    Ok(points)
}

fn residual(fit: &LineFit, point: &Point) -> Residual {
    let fitted_us = fit.at(point.size_bytes);
    let relative = (point.median_us - fitted_us) / point.median_us;
    let within = (point.ci_low_us..=point.ci_high_us).contains(&fitted_us);
    Residual {
        size_bytes: point.size_bytes,
        measured_us: point.median_us,
        fitted_us,
        relative,
        fails: !within && relative.abs() > TOLERANCE,
    }
}

impl Hockney {
    /// Returns the sizes at which the straight line fails.
    pub fn failing_sizes(&self) -> impl Iterator<Item = u64> {
        self.residuals.iter().filter(|residual| residual.fails).map(|residual| residual.size_bytes)
    }
}

impl std::fmt::Display for FitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FitError::TooFewSizes { sizes } => {
                write!(f, "a line needs three message sizes or more, here are {sizes}")
            }
            FitError::RepeatedSize { size_bytes } => {
                write!(f, "there are two times for messages of {size_bytes} bytes")
            }
            FitError::BadPoint(point) => write!(
                f,
                "the time for {} bytes cannot be fitted: median {} us, interval {} to {} us",
                point.size_bytes, point.median_us, point.ci_low_us, point.ci_high_us
            ),
        }
    }
}

impl std::error::Error for FitError {}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    /// Returns a point with an interval of `share` of the median on both sides.
    fn point(size_bytes: u64, median_us: f64, share: f64) -> Point {
        Point {
            size_bytes,
            median_us,
            ci_low_us: median_us * (1.0 - share),
            ci_high_us: median_us * (1.0 + share),
        }
    }

    /// Returns 0 and the powers of two up to 1 MiB.
    fn sizes() -> impl Iterator<Item = u64> {
        std::iter::once(0).chain((0..=20).map(|power| 1 << power))
    }

    fn close(found: f64, wanted: f64) -> bool {
        (found - wanted).abs() <= 1e-9 * wanted.abs()
    }

    #[test]
    fn an_exact_line_is_recovered_with_its_half_performance_size() {
        // 2 us and 1 us for 500 bytes: 500 MB/s, and 1000 bytes take 2 + 2 us, half of 500 MB/s.
        let points: Vec<Point> =
            sizes().map(|size| point(size, 2.0 + size as f64 / 500.0, 0.05)).collect();
        let model = fit(&points, 0.95).unwrap();
        assert!(close(model.line.latency_us.value, 2.0), "{model:?}");
        assert!(close(model.line.us_per_byte.value, 0.002));
        assert!(close(model.line.rate_mb_per_s.unwrap().value, 500.0));
        assert!(close(model.line.half_performance_bytes.unwrap().value, 1000.0));
        assert!(close(model.r_squared, 1.0));
        assert_eq!(model.failing_sizes().count(), 0);
        assert!(model.segments.is_empty());
    }

    /// The line through 0.5, 2 and 3.5 us at 1000, 2000 and 3000 bytes is at -1 us for none.
    #[test]
    fn no_message_takes_less_time_than_none() {
        let points = [(1000, 0.5), (2000, 2.0), (3000, 3.5)].map(|(size, us)| point(size, us, 0.1));
        let latency = fit(&points, 0.95).unwrap().line.latency_us;
        assert_eq!((latency.value, latency.low), (0.0, 0.0), "{latency:?}");
    }

    #[test]
    fn three_points_by_hand() {
        // The intervals make each standard error 20 us, and so the weights equal. Sizes 0, 1, 2 and times 100, 102,
        // 107: means 1 and 103; slope (0 + (107 - 103) - (100 - 103)) / 2 = 3.5; intercept 99.5. Residuals 0.5, -1,
        // 0.5: S = 1.5 with one degree of freedom, t = 12.7062; slope +- t sqrt(1.5 / 2).
        let points =
            [(0, 100.0), (1, 102.0), (2, 107.0)].map(|(size_bytes, median_us): (_, f64)| {
                let half_width = 2.0 * (20.0f64.powi(2) - (0.05 * median_us).powi(2)).sqrt();
                Point {
                    size_bytes,
                    median_us,
                    ci_low_us: median_us - half_width,
                    ci_high_us: median_us + half_width,
                }
            });
        let model = fit(&points, 0.95).unwrap();
        assert!(close(model.line.us_per_byte.value, 3.5), "{model:?}");
        assert!(close(model.line.latency_us.value, 99.5));
        let half_width = 12.706_204_736 * 0.75f64.sqrt();
        assert!((model.line.us_per_byte.high - 3.5 - half_width).abs() < 1e-6);
        // Total spread 9 + 1 + 16 = 26: R^2 = 1 - 1.5 / 26.
        assert!(close(model.r_squared, 1.0 - 1.5 / 26.0));
        assert!((model.residuals[1].relative - (102.0 - 103.0) / 102.0).abs() < 1e-12);
    }

    #[test]
    fn small_messages_count_as_much_as_long_ones() {
        // The long messages are 5 % slower than the line of the short ones. Plain least squares would follow them and
        // turn 1 us of latency into thousands.
        let points: Vec<Point> = sizes()
            .map(|size| {
                let slow = if size > 1 << 18 { 1.05 } else { 1.0 };
                point(size, slow * (1.0 + size as f64 / 10_000.0), 0.05)
            })
            .collect();
        let model = fit(&points, 0.95).unwrap();
        assert!((model.line.latency_us.value - 1.0).abs() < 0.05, "{:?}", model.line);
    }

    #[test]
    fn times_that_do_not_depend_on_size_have_no_rate() {
        let model =
            fit(&[point(0, 5.0, 0.1), point(8, 5.0, 0.1), point(16, 5.0, 0.1)], 0.95).unwrap();
        assert_eq!(model.line.rate_mb_per_s, None);
        assert_eq!(model.line.half_performance_bytes, None);
        let falling = fit(&[point(0, 9.0, 0.1), point(8, 5.0, 0.1), point(16, 4.0, 0.1)], 0.95);
        assert_eq!(falling.unwrap().line.rate_mb_per_s, None);
    }

    #[test]
    fn a_step_and_a_change_of_rate_are_recovered_as_two_lines() {
        // Eager below 64 KiB, 1 us and 5000 MB/s; from there a rendezvous, 10 us and 12500 MB/s.
        let time = |size: u64| {
            if size < 1 << 16 { 1.0 + size as f64 / 5000.0 } else { 10.0 + size as f64 / 12500.0 }
        };
        let points: Vec<Point> = sizes().map(|size| point(size, time(size), 0.02)).collect();
        let model = fit(&points, 0.95).unwrap();
        let [eager, rendezvous] = model.segments[..] else { panic!("{:?}", model.segments) };
        assert_eq!((eager.from_bytes, eager.to_bytes), (0, 1 << 15));
        assert_eq!((rendezvous.from_bytes, rendezvous.to_bytes), (1 << 16, 1 << 20));
        assert!(
            close(eager.line.latency_us.value, 1.0)
                && close(rendezvous.line.latency_us.value, 10.0)
        );
        assert!(close(eager.line.rate_mb_per_s.unwrap().value, 5000.0));
        assert!(close(rendezvous.line.rate_mb_per_s.unwrap().value, 12500.0));
        // One line is within 10 % of neither regime everywhere, and reports the sizes at which it fails.
        assert!(model.failing_sizes().count() > 0);
    }

    #[test]
    fn three_regimes_are_recovered_through_noise() {
        let time = |size: u64| match size {
            ..=1024 => 0.5 + size as f64 / 2000.0,
            1025..=65536 => 2.0 + size as f64 / 8000.0,
            _ => 30.0 + size as f64 / 16000.0,
        };
        let mut random = SplitMix64::new(3);
        let right = (0..200)
            .filter(|_| {
                let points: Vec<Point> = sizes()
                    .map(|size| point(size, time(size) * (1.0 + 0.02 * random.normal()), 0.04))
                    .collect();
                let ends: Vec<u64> =
                    fit(&points, 0.95).unwrap().segments.iter().map(|part| part.to_bytes).collect();
                ends == [1024, 65536, 1 << 20]
            })
            .count();
        assert!(right >= 180, "{right} of 200");
    }

    #[test]
    fn a_line_fails_where_it_misses_the_interval_and_a_tenth() {
        let mut points: Vec<Point> =
            sizes().map(|size| point(size, 2.0 + size as f64 / 500.0, 0.02)).collect();
        points[8].median_us *= 1.5;
        points[8].ci_low_us *= 1.5;
        points[8].ci_high_us *= 1.5;
        assert_eq!(fit(&points, 0.95).unwrap().failing_sizes().collect::<Vec<_>>(), [128]);
        // The same point with an interval that reaches down to the line is no failure.
        points[8].ci_low_us = 1.0;
        assert_eq!(fit(&points, 0.95).unwrap().failing_sizes().count(), 0);
    }

    #[test]
    fn intervals_cover_the_parameters_as_often_as_they_claim() {
        const TRIALS: usize = 4000;
        let mut random = SplitMix64::new(1981);
        let [mut latency, mut rate, mut half, mut split] = [0; 4];
        let covers = |estimate: super::super::Estimate, truth: f64| {
            usize::from((estimate.low..=estimate.high).contains(&truth))
        };
        for _ in 0..TRIALS {
            let points: Vec<Point> = sizes()
                .map(|size| {
                    let time = 2.0 + size as f64 / 500.0;
                    point(size, time * (1.0 + 0.02 * random.normal()), 0.04)
                })
                .collect();
            let model = fit(&points, 0.95).unwrap();
            latency += covers(model.line.latency_us, 2.0);
            rate += covers(model.line.rate_mb_per_s.unwrap(), 500.0);
            half += covers(model.line.half_performance_bytes.unwrap(), 1000.0);
            split += usize::from(!model.segments.is_empty());
        }
        // Four standard errors of the share: 4 sqrt(0.95 * 0.05 / 4000) = 0.014. The weights follow the noisy medians,
        // which shifts the fit by about one part in a thousand.
        for covered in [latency, rate, half] {
            let share = covered as f64 / TRIALS as f64;
            assert!((0.936..=0.964).contains(&share), "{share}");
        }
        assert!(split <= TRIALS / 100, "a straight line was split in {split} of {TRIALS} trials");
    }

    #[test]
    fn a_line_that_was_measured_badly_is_not_split() {
        let mut random = SplitMix64::new(1982);
        let split = (0..1000)
            .filter(|_| {
                let points: Vec<Point> = sizes()
                    .map(|size| {
                        let time = 2.0 + size as f64 / 500.0;
                        point(size, time * (0.1 * random.normal()).exp(), 0.2)
                    })
                    .collect();
                !fit(&points, 0.95).unwrap().segments.is_empty()
            })
            .count();
        assert!(split <= 10, "{split} of 1000");
    }

    #[test]
    fn what_cannot_be_fitted_is_named() {
        let two = [point(1, 1.0, 0.1), point(2, 2.0, 0.1)];
        assert_eq!(fit(&two, 0.95), Err(FitError::TooFewSizes { sizes: 2 }));
        let twice = [two[0], two[1], two[1]];
        assert_eq!(fit(&twice, 0.95), Err(FitError::RepeatedSize { size_bytes: 2 }));
        for bad in [point(3, 0.0, 0.1), point(3, f64::NAN, 0.1), Point { ci_low_us: 3.0, ..two[1] }]
        {
            let error = fit(&[two[0], two[1], bad], 0.95).unwrap_err();
            assert!(matches!(error, FitError::BadPoint(_)), "{error}");
        }
    }
}
