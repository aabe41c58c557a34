//! A sample: one value or more, all of them finite.

use std::fmt;

/// One value or more, all finite, in ascending order.
///
/// A value that is not a number has no place in an order, so it is refused with its position, never skipped: a
/// measurement that yields one is broken, and omitting it would hide that.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    // Never empty, sorted, without NaN and infinity: only `new` fills it.
    sorted: Vec<f64>,
}

/// The reason why values are no sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleError {
    /// There are no values.
    Empty,
    /// One is infinite or not a number.
    NotFinite {
        /// Index of the value, counted from 0.
        index: usize,
        /// The value.
        value: f64,
    },
}

impl Sample {
    /// Takes the values in any order, and sorts them once.
    ///
    /// # Errors
    /// [`SampleError`] if there are none, or one is not finite.
    pub fn new(values: impl Into<Vec<f64>>) -> Result<Self, SampleError> {
        let mut sorted = values.into();
        if sorted.is_empty() {
            return Err(SampleError::Empty);
        }
        if let Some(index) = sorted.iter().position(|value| !value.is_finite()) {
            return Err(SampleError::NotFinite { index, value: sorted[index] });
        }
        sorted.sort_unstable_by(f64::total_cmp);
        Ok(Sample { sorted })
    }

    /// Returns the values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns their number, at least 1. (A sample is never empty, so there is no `is_empty`.)
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Returns the smallest value.
    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    /// Returns the largest value.
    pub fn max(&self) -> f64 {
        self.sorted[self.len() - 1]
    }

    /// Returns the arithmetic mean.
    pub fn mean(&self) -> f64 {
        // Division before the sum keeps that of huge values finite.
        let n = self.len() as f64;
        let mean = self.sorted.iter().map(|value| value / n).sum::<f64>();
        mean.clamp(self.min(), self.max())
    }

    /// Returns the median: the middle value, or the mean of the two middle ones.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the value below which the share `p` of the sample lies, for `p` from 0 to 1: type 7 of Hyndman and Fan
    /// (*Sample quantiles in statistical packages*, The American Statistician 50, 1996), the default of R, NumPy and
    /// Julia. The position h = (n - 1) p, counted from 0, is interpolated between its neighbours.
    ///
    /// A high quantile of few samples has little meaning: below 101 samples p = 0.99 is between the two largest, and so
    /// is p = 0.999 below 1001. Show `n` and the maximum with it.
    ///
    /// # Panics
    /// If `p` is not from 0 to 1.
    pub fn quantile(&self, p: f64) -> f64 {
        assert!((0.0..=1.0).contains(&p), "a quantile is asked for a share from 0 to 1, not {p}");
        let position = (self.len() - 1) as f64 * p;
        let below = self.sorted[position.floor() as usize];
        let above = self.sorted[position.ceil() as usize];
        let weight = position.fract();
        // The form below + weight * (above - below) could overflow in its difference.
        if below == above { below } else { below * (1.0 - weight) + above * weight }
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleError::Empty => f.write_str("there are no samples"),
            SampleError::NotFinite { index, value } => {
                write!(f, "sample {index} is {value}, not a finite number")
            }
        }
    }
}

impl std::error::Error for SampleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_values_are_no_sample() {
        assert_eq!(Sample::new([]), Err(SampleError::Empty));
    }

    #[test]
    fn a_value_that_is_not_finite_is_refused_by_its_position() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = Sample::new([1.0, 2.0, bad, 3.0]).unwrap_err();
            assert!(matches!(error, SampleError::NotFinite { index: 2, .. }), "{error}");
            assert!(error.to_string().starts_with("sample 2 is "), "{error}");
        }
    }

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middle_values() {
        assert_eq!(Sample::new([7.0]).unwrap().median(), 7.0);
        assert_eq!(Sample::new([9.0, 1.0, 5.0]).unwrap().median(), 5.0);
        assert_eq!(Sample::new([9.0, 1.0, 5.0, 6.0]).unwrap().median(), 5.5);
    }

    #[test]
    fn quantiles_interpolate_by_type_7() {
        // n = 5: h = 4 p. p = 0.25 is at the second value; p = 0.9 at 3.6, between 40 and 80: 40 + 0.6 * 40 = 64.
        let sample = Sample::new([10.0, 20.0, 30.0, 40.0, 80.0]).unwrap();
        assert_eq!(sample.quantile(0.0), 10.0);
        assert_eq!(sample.quantile(0.25), 20.0);
        assert!((sample.quantile(0.9) - 64.0).abs() < 1e-12);
        assert_eq!(sample.quantile(1.0), 80.0);
        // n = 4: h = 3 p. p = 0.25 at 0.75: 1 + 0.75 * 1 = 1.75.
        assert_eq!(Sample::new([4.0, 3.0, 2.0, 1.0]).unwrap().quantile(0.25), 1.75);
    }

    #[test]
    fn the_99th_percentile_of_101_samples_is_the_last_but_one() {
        let sample = Sample::new((0..101).map(f64::from).collect::<Vec<_>>()).unwrap();
        assert_eq!(sample.quantile(0.99), 99.0);
        assert!((sample.quantile(0.999) - 99.9).abs() < 1e-9);
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let sample = Sample::new([-f64::MAX, f64::MAX, f64::MAX]).unwrap();
        assert!(sample.mean().is_finite());
        assert_eq!(sample.quantile(0.25), 0.0);
    }
}
