//! How much longer a number takes than simple operations do on a slower processor.

use super::mean;
use crate::constants::CONSTANTS;

/// The slope of a line through the logarithms of a number over slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slope {
    pub(crate) value: f64,
    pub(crate) error: f64,
    /// Sum of the squares of the slowdowns around their means.
    squares: f64,
}

impl Slope {
    /// Returns the slope of points, each group of them at its own level; `None` if no group has two points. A slope of 1
    /// +- 0.5 is expected, and the points make it more precise (the mean of the posterior of a normal prior).
    pub(crate) fn of(groups: &[Vec<(f64, f64)>]) -> Option<Slope> {
        let (mut xx, mut xy, mut unexplained, mut freedom) = (0.0, 0.0, 0.0, 0);
        for group in groups {
            let x_mean = mean(group.iter().map(|(x, _)| *x));
            let y_mean = mean(group.iter().map(|(_, y)| *y));
            for (x, y) in group.iter().map(|(x, y)| (x - x_mean, y - y_mean)) {
                (xx, xy) = (xx + x * x, xy + x * y);
                unexplained += (y - x) * (y - x);
            }
            freedom += group.len().saturating_sub(1);
        }
        let variance = unexplained / freedom as f64;
        let prior = variance / (CONSTANTS.slopes_differ_by * CONSTANTS.slopes_differ_by);
        match xx + prior > 0.0 {
            _ if freedom == 0 => None,
            true => Some(Slope {
                value: (xy + prior) / (xx + prior),
                error: (variance / (xx + prior)).sqrt(),
                squares: xx,
            }),
            false => Some(Slope { value: 1.0, error: CONSTANTS.slopes_differ_by, squares: 0.0 }),
        }
    }

    /// Returns whether the slowdowns differ, so that the points show a slope.
    pub(crate) fn is_known(self) -> bool {
        self.squares > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_lies_between_the_expected_one_and_that_of_the_points_by_hand() {
        // x is -1, 0, 1 around its mean; y is 3 x. Squares of y - x: 4, 0, 4, so the variance is 8/2 = 4 and weighs
        // 4 / 0.25 = 16: (2 * 3 + 16) / (2 + 16), with an error of sqrt(4 / 18).
        let points = [(0.0, 1.0), (1.0, 4.0), (2.0, 7.0)];
        let found = Slope::of(&[points.to_vec()]).unwrap();
        assert!((found.value - 22.0 / 18.0).abs() < 1e-12, "{found:?}");
        assert!((found.error - (4.0f64 / 18.0).sqrt()).abs() < 1e-12, "{found:?}");
        // Each group is at its own level, and one point has no slope.
        let higher: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x + 5.0, y - 9.0)).collect();
        let of_two = Slope::of(&[points.to_vec(), higher, vec![(8.0, 8.0)]]).unwrap();
        assert!((of_two.value - 28.0 / 20.0).abs() < 1e-12, "{of_two:?}");
        assert_eq!(Slope::of(&[vec![(0.1, 3.0)], vec![]]), None);
        // Slowdowns that do not differ show none.
        let equal = Slope::of(&[vec![(0.1, 3.0), (0.1, 5.0)]]).unwrap();
        assert_eq!((equal.value, equal.error, equal.is_known()), (1.0, 0.5, false));
    }
}
