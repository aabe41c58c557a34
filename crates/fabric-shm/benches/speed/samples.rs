//! Samples, their median, and the interval that holds it.

/// Values of one quantity, in nanoseconds or the unit of the row.
#[derive(Clone, Debug)]
pub(crate) struct Samples(Vec<f64>);

/// A median with its 95 % interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Median {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Samples {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        assert!(values.len() >= 2, "a median needs samples");
        values.sort_by(f64::total_cmp);
        Samples(values)
    }

    /// Returns the median, with the order statistics that enclose it in 95 % of trials (normal approximation of the
    /// binomial, ranks n/2 +- 0.98 sqrt(n)).
    pub(crate) fn median(&self) -> Median {
        let n = self.0.len() as f64;
        let at = |rank: f64| self.0[(rank.max(0.0) as usize).min(self.0.len() - 1)];
        let half = 0.98 * n.sqrt();
        Median {
            value: at((n - 1.0) / 2.0),
            low: at((n / 2.0 - half).floor() - 1.0),
            high: at((n / 2.0 + half).ceil()),
        }
    }
}
