//! Launches on processors of different speeds.
//!
//! The logarithm of a launch's number grows with the slowdown of the processors ([`crate::processor_speed`]), within
//! each state and side by the same slopes (an analysis of covariance: Fisher, *Statistical Methods for Research
//! Workers*, chapter 8). Numbers are compared as if all launches had met the same slowdown.

use super::shift::{Shift, Stratum};
use crate::processor_speed::{COVARIATES, Slowdown};
use crate::student;

/// Minimum number of degrees of freedom from which the slopes are estimated.
const FREEDOM_MIN: usize = 6;

/// Share of the product of two variances below which the determinant of both slowdowns is taken for 0.
const SINGULAR: f64 = 1e-6;

type Matrix = [[f64; COVARIATES]; COVARIATES];

/// The slowdowns of the launches of a [`Stratum`].
pub(super) type Slowdowns = [Vec<Slowdown>; 2];

/// Launches as on processors of one speed.
pub(super) struct AtOneSpeed {
    pub(super) strata: Vec<Stratum>,
    /// Standard error that the uncertainty of the slopes adds to the difference between the sides, and its degrees of
    /// freedom.
    error: f64,
    freedom: usize,
    /// Factor by which launches vary more around the true line than around the fitted one.
    spread: f64,
}

/// Returns the logarithms of the launches in `strata` as on processors of one speed. `slowdowns` are those of the
/// launches, in the same form. Launches stay as they are if there are too few to tell the slopes, or if the slowdowns
/// are not known. With `paired` the values with the same index belong together.
pub(super) fn at_one_speed(
    strata: Vec<Stratum>,
    slowdowns: &[Slowdowns],
    paired: bool,
) -> AtOneSpeed {
    let fit = Sums::of(&strata, slowdowns, paired).and_then(|sums| sums.fit());
    let Some(Fit { slopes, inverse, variance, freedom, spread }) = fit else {
        return AtOneSpeed { strata, error: 0.0, freedom: FREEDOM_MIN, spread: 1.0 };
    };
    let adjust = |(values, slowdowns): (&Stratum, &Slowdowns)| -> Stratum {
        [0, 1].map(|side: usize| {
            let both = values[side].iter().zip(&slowdowns[side]);
            both.map(|(value, slowdown)| value - product(&slopes, slowdown)).collect()
        })
    };
    let strata = strata.iter().zip(slowdowns).map(adjust).collect();
    let apart = difference(slowdowns);
    let error = (variance * product(&apart, &times(&inverse, &apart))).max(0.0).sqrt();
    AtOneSpeed { strata, error, freedom, spread }
}

impl AtOneSpeed {
    /// Adds the uncertainty of the slopes to the interval of a shift.
    pub(super) fn widen(&self, shift: Shift, confidence: f64) -> Shift {
        let reach = student::two_sided(confidence, self.freedom) * self.error;
        let Shift { middle, low, high, .. } = shift;
        Shift {
            low: middle - (self.spread * (middle - low)).hypot(reach),
            high: middle + (self.spread * (high - middle)).hypot(reach),
            ..shift
        }
    }
}

/// Sums of squares and products around the means of groups: x are the slowdowns, y is the number.
#[derive(Default)]
struct Sums {
    xx: Matrix,
    xy: Slowdown,
    yy: f64,
    /// Number of values less that of groups.
    freedom: usize,
}

/// A line through the values of all groups, each at its own level.
struct Fit {
    slopes: Slowdown,
    /// Covariances of the slopes, divided by the variance of a value around the line.
    inverse: Matrix,
    variance: f64,
    freedom: usize,
    /// As in [`AtOneSpeed`].
    spread: f64,
}

impl Sums {
    /// Returns the sums; `None` if not every value has a slowdown.
    fn of(strata: &[Stratum], slowdowns: &[Slowdowns], paired: bool) -> Option<Sums> {
        let is_known = |(values, slowdowns): (&Stratum, &Slowdowns)| {
            (0..2).all(|side| values[side].len() == slowdowns[side].len())
        };
        if strata.len() != slowdowns.len() || !strata.iter().zip(slowdowns).all(is_known) {
            return None;
        }
        let mut sums = Sums::default();
        for (values, slowdowns) in strata.iter().zip(slowdowns) {
            if paired {
                let ys: Vec<f64> = values[0].iter().zip(&values[1]).map(|(a, b)| b - a).collect();
                let xs = slowdowns[0].iter().zip(&slowdowns[1]);
                sums.add(&xs.map(|(a, b)| minus(b, a)).collect::<Vec<_>>(), &ys);
                continue;
            }
            (0..2).for_each(|side| sums.add(&slowdowns[side], &values[side]));
        }
        Some(sums)
    }

    /// Adds a group.
    fn add(&mut self, xs: &[Slowdown], ys: &[f64]) {
        let x_mean = mean(xs);
        let y_mean = ys.iter().sum::<f64>() / ys.len().max(1) as f64;
        for (x, y) in xs.iter().zip(ys) {
            let (x, y) = (minus(x, &x_mean), y - y_mean);
            for i in 0..COVARIATES {
                (0..COVARIATES).for_each(|j| self.xx[i][j] += x[i] * x[j]);
                self.xy[i] += x[i] * y;
            }
            self.yy += y * y;
        }
        self.freedom += ys.len().saturating_sub(1);
    }

    /// Returns the line of the least squares, by both slowdowns or by the first if they say the same. `None` if there
    /// are too few values, or if the slowdowns do not differ.
    fn fit(&self) -> Option<Fit> {
        let (inverse, slopes) = inverse(&self.xx)?;
        let freedom = self.freedom.checked_sub(slopes).filter(|&n| n >= FREEDOM_MIN)?;
        let slopes = times(&inverse, &self.xy);
        let unexplained = (self.yy - product(&slopes, &self.xy)).max(0.0);
        let variance = unexplained / freedom as f64;
        let spread = (self.freedom as f64 / freedom as f64).sqrt();
        Some(Fit { slopes, inverse, variance, freedom, spread })
    }
}

/// Returns the inverse of a symmetric matrix, and its rank. Of a matrix that is nearly singular it is that of the first
/// element. `None` if that is 0.
fn inverse([[a, b], [_, c]]: &Matrix) -> Option<(Matrix, usize)> {
    let determinant = a * c - b * b;
    if determinant > SINGULAR * a * c {
        let [a, b, c] = [a, b, c].map(|element| element / determinant);
        return Some(([[c, -b], [-b, a]], 2));
    }
    (*a > 0.0).then(|| ([[1.0 / a, 0.0], [0.0, 0.0]], 1))
}

fn times(matrix: &Matrix, vector: &Slowdown) -> Slowdown {
    matrix.map(|row| product(&row, vector))
}

fn product(one: &Slowdown, other: &Slowdown) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

fn minus(one: &Slowdown, other: &Slowdown) -> Slowdown {
    std::array::from_fn(|index| one[index] - other[index])
}

fn mean(values: &[Slowdown]) -> Slowdown {
    let of = |index: usize| values.iter().map(|value| value[index]).sum::<f64>();
    std::array::from_fn(|index| of(index) / values.len().max(1) as f64)
}

/// Returns by how much the second side's slowdowns exceed the first one's, each stratum with the weight that it has in
/// the comparison.
fn difference(slowdowns: &[Slowdowns]) -> Slowdown {
    let (mut sum, mut weights) = ([0.0; COVARIATES], 0.0);
    for [first, second] in slowdowns {
        let (n, m) = (first.len() as f64, second.len() as f64);
        let (weight, apart) = (n * m / (n + m), minus(&mean(second), &mean(first)));
        (0..COVARIATES).for_each(|index| sum[index] += weight * apart[index]);
        weights += weight;
    }
    sum.map(|sum| sum / weights)
}

#[cfg(test)]
mod tests {
    use random::SplitMix64;

    use super::*;
    use crate::compare::shift::between;

    /// Returns a slowdown that is the same for all ranks.
    fn alike(slowdowns: &[f64]) -> Vec<Slowdown> {
        slowdowns.iter().map(|&one| [one; COVARIATES]).collect()
    }

    #[test]
    fn numbers_that_follow_the_slowdowns_are_equal_at_one_speed_by_hand() {
        // y = level + x / 2 + z / 4, with the level 2 on the first side and 3 on the second one.
        let xs = [
            vec![[0.0, 0.2], [0.2, 0.2], [0.4, 1.0], [0.6, 0.7], [0.1, 0.5]],
            vec![[0.4, 0.5], [0.6, 0.6], [0.8, 1.0], [1.0, 2.0], [0.3, 0.9]],
        ];
        let on = |level: f64, xs: &[Slowdown]| -> Vec<f64> {
            xs.iter().map(|[x, z]| level + x / 2.0 + z / 4.0).collect()
        };
        let values = [on(2.0, &xs[0]), on(3.0, &xs[1])];
        let adjusted = at_one_speed(vec![values], std::slice::from_ref(&xs), false);
        let is = |values: &[f64], level: f64| values.iter().all(|y| (y - level).abs() < 1e-9);
        let [first, second] = &adjusted.strata[0];
        assert!(is(first, 2.0) && is(second, 3.0), "{:?}", adjusted.strata);
        assert!(adjusted.error < 1e-6 && adjusted.freedom == 6);
        // As pairs: y is 1 more than by the slopes, in each pair. There are too few, 5 - 1 - 2.
        let pairs = at_one_speed(vec![[on(2.0, &xs[0]), on(3.0, &xs[1])]], &[xs], true);
        assert_eq!(pairs.error, 0.0);
    }

    #[test]
    fn an_uncertain_slope_widens_the_interval_by_hand() {
        // Both slowdowns say the same, so one slope is estimated. Around the means x is -1, 0 or 1, y is x / 2 + 1/10
        // or x / 2 - 1/10: xx = 8, and the unexplained squares sum to 8/100. With 10 - 2 - 1 = 7 degrees of freedom the
        // slope's error is sqrt(8/100 / 7 / 8) = 0.0378; the sides are 3 apart.
        let xs = |middle: f64| alike(&[-1.0, -1.0, 1.0, 1.0, 0.0].map(|x| middle + x));
        let ys = |middle: f64| [-0.4, -0.6, 0.4, 0.6, 0.0].map(|y| middle + y).to_vec();
        let adjusted = at_one_speed(vec![[ys(5.0), ys(6.5)]], &[[xs(0.0), xs(3.0)]], false);
        let error = (0.08f64 / 7.0 / 8.0).sqrt() * 3.0;
        assert!((adjusted.error - error).abs() < 1e-12 && adjusted.freedom == 7);
        let shift = Shift { middle: 0.0, low: -0.3, high: 0.4, confidence: 0.95 };
        let wide = adjusted.widen(shift, 0.95);
        let reach = student::two_sided(0.95, 7) * error;
        // Ten values in two groups, around a line of one slope: 8 / 7.
        let ends = [0.09, 0.16].map(|square: f64| (square * 8.0 / 7.0 + reach * reach).sqrt());
        let expected = [-ends[0], ends[1]];
        assert!((wide.low - expected[0]).abs() < 1e-12 && (wide.high - expected[1]).abs() < 1e-12);
    }

    #[test]
    fn too_few_launches_and_unknown_speeds_change_nothing() {
        let values = [vec![1.0, 1.5, 2.0], vec![1.0, 2.0, 3.0]];
        let slowdowns = [alike(&[0.0, 0.1, 0.2]), alike(&[0.0, 0.2, 0.1])];
        let few = at_one_speed(vec![values.clone()], &[slowdowns], false);
        let unknown = at_one_speed(vec![values.clone()], &[[vec![], vec![]]], false);
        let none = at_one_speed(vec![values.clone()], &[], false);
        let many = [vec![1.0; 9], vec![2.0; 9]];
        let free = at_one_speed(vec![many.clone()], &[[alike(&[0.0; 9]), alike(&[0.0; 9])]], false);
        assert!([few, unknown, none].iter().all(|one| one.strata == [values.clone()]));
        assert_eq!(free.strata, [many]);
    }

    /// Two sides whose processors differ in speed, with noise. The true difference is 0.02.
    #[test]
    fn intervals_at_one_speed_cover_the_difference_as_often_as_they_claim() {
        const TRIALS: usize = 3000;
        for (seed, launches, apart) in [(2401, 5, 0.0), (2402, 10, 0.1), (2403, 10, 1.0)] {
            let mut random = SplitMix64::new(seed);
            let mut covered = 0;
            let mut widths = [0.0, 0.0];
            for _ in 0..TRIALS {
                let mut side = |middle: f64, level: f64| -> (Vec<Slowdown>, Vec<f64>) {
                    let mut launch = || {
                        let x = middle + 0.1 * random.normal();
                        let z = x + 0.05 * random.normal();
                        ([x, z], level + 0.5 * x + 0.4 * z + 0.02 * random.normal())
                    };
                    (0..launches).map(|_| launch()).unzip()
                };
                let ((xs, ys), (later_xs, later_ys)) = (side(0.3, 0.0), side(0.3 + apart, 0.02));
                let values = [ys, later_ys];
                let raw = between(std::slice::from_ref(&values), 0.95);
                let adjusted = at_one_speed(vec![values], &[[xs, later_xs]], false);
                let found = adjusted.widen(between(&adjusted.strata, 0.95), 0.95);
                covered += usize::from((found.low..=found.high).contains(&0.02));
                widths[0] += raw.high - raw.low;
                widths[1] += found.high - found.low;
            }
            let share = covered as f64 / TRIALS as f64;
            assert!(share >= 0.945, "seed {seed}: {share}");
            assert!(apart > 0.5 || 2.0 * widths[1] < widths[0], "seed {seed}: {widths:?}");
        }
    }
}
