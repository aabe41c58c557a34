//! A straight line through points, by least squares.

/// The line y = at_mean + slope (x - mean_x).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) mean_x: f64,
    pub(super) at_mean: f64,
    pub(super) slope: f64,
    /// The standard error of the slope.
    pub(super) slope_error: f64,
    /// Standard deviation of the points from the line.
    pub(super) scatter: f64,
}

impl Line {
    /// Returns the line through `points`; at least three, not all at one x.
    pub(super) fn through(points: &[(f64, f64)]) -> Line {
        let n = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let xx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let xy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = xy / xx;
        let left = |(x, y): &(f64, f64)| y - mean_y - slope * (x - mean_x);
        let squares: f64 = points.iter().map(|point| left(point).powi(2)).sum();
        let variance = squares / (n - 2.0);
        Line {
            mean_x,
            at_mean: mean_y,
            slope,
            slope_error: (variance / xx).sqrt(),
            scatter: variance.sqrt(),
        }
    }

    pub(super) fn at(&self, x: f64) -> f64 {
        self.at_mean + self.slope * (x - self.mean_x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_yield_that_line() {
        let line = Line::through(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]);
        assert!((line.slope - 2.0).abs() < 1e-12 && (line.at(0.0) - 3.0).abs() < 1e-12);
        assert!(line.scatter < 1e-12 && line.slope_error < 1e-12);
    }

    /// y = 0, 3, 0 at x = 0, 1, 2: the slope is 0, the mean 1, the squares of the residuals 1 + 4 + 1 = 6 over n - 2 =
    /// 1.
    #[test]
    fn scatter_is_the_residual_of_the_line() {
        let line = Line::through(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]);
        assert!((line.at(7.0) - 1.0).abs() < 1e-12);
        assert!((line.scatter - 6f64.sqrt()).abs() < 1e-12);
        assert!((line.slope_error - 3f64.sqrt()).abs() < 1e-12);
    }
}
