//! The factor by which the launches of one side take longer than those of another, from ranks alone.
//!
//! The estimate is that of Hodges and Lehmann (Annals of Mathematical Statistics 34, 1963): the median of all ratios of
//! a launch on one side to a launch on the other, or of the means of all pairs of paired ratios. Its interval leaves
//! out as many ratios at both ends as the exact distribution of the rank statistic permits (Wilcoxon's; Hollander and
//! Wolfe, *Nonparametric Statistical Methods*, sections 3.3 and 4.3). It has its stated coverage for any distribution
//! of the launches. Two states of a machine do not make it as wide as the distance between them, unlike an interval
//! over medians.

use crate::constants::CONSTANTS;
use crate::statistics::reaches;
use crate::student;

/// A difference with its interval, and the confidence that the interval reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shift {
    pub(super) middle: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) confidence: f64,
    /// Number of ratios that the interval leaves out at each end, of how many.
    pub(super) left_out: [usize; 2],
}

impl Shift {
    /// Returns by how much the first values exceed the second ones.
    pub(super) fn opposite(self) -> Shift {
        let Shift { middle, low, high, .. } = self;
        Shift { middle: -middle, low: -high, high: -low, ..self }
    }
}

/// Values of both sides that were measured under the same conditions.
pub(super) type Stratum = [Vec<f64>; 2];

/// Returns by how much the second values exceed the first ones. Only values of the same stratum are compared; the
/// statistic is the sum of those of the strata (van Elteren, Bulletin of the International Statistical Institute 37,
/// 1960). At least one stratum has values on both sides.
pub(super) fn between(strata: &[Stratum], confidence: f64) -> Shift {
    let mut differences = Vec::new();
    let (mut mean, mut variance) = (0.0, 0.0);
    for [first, second] in strata {
        differences.extend(second.iter().flat_map(|b| first.iter().map(move |a| b - a)));
        let pairs = (first.len() * second.len()) as f64;
        mean += pairs / 2.0;
        variance += pairs * (first.len() + second.len() + 1) as f64 / 12.0;
    }
    let left_out = if differences.len() <= CONSTANTS.pairs_counted_max {
        let of_stratum = |[first, second]: &Stratum| rank_sums(first.len(), second.len());
        let sums = strata.iter().map(of_stratum).reduce(|one, other| sum_chances(&one, &other));
        LeftOut::counted(&sums.expect("there is a stratum"), confidence)
    } else {
        LeftOut::approximate(mean, variance, confidence)
    };
    shift(differences, left_out)
}

/// Returns the chance of each sum of two independent numbers, each with the chances of its values from 0 on.
fn sum_chances(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; one.len() + other.len() - 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            sums[i + j] += a * b;
        }
    }
    sums
}

/// Returns by how much the second values exceed the first ones at the same index. There is at least one pair.
pub(super) fn paired(first: &[f64], second: &[f64], confidence: f64) -> Shift {
    let each: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
    let n = each.len();
    let means: Vec<f64> = (0..n)
        .flat_map(|i| each[i..].iter().map(move |b| (i, b)))
        .map(|(i, b)| (each[i] + b) / 2.0)
        .collect();
    let left_out = if n <= CONSTANTS.signed_counted_max {
        LeftOut::counted(&signed_rank_sums(n), confidence)
    } else {
        let (sums, n) = ((n * (n + 1)) as f64, n as f64);
        LeftOut::approximate(sums / 4.0, sums * (2.0 * n + 1.0) / 24.0, confidence)
    };
    shift(means, left_out)
}

/// Number of ratios that an interval leaves out at each end, and the confidence that it then has.
struct LeftOut {
    count: usize,
    confidence: f64,
}

impl LeftOut {
    /// Returns the largest number that leaves at least the requested confidence, and 0 if there is no such number.
    /// `chances` are those of each value of the rank statistic if both sides are alike.
    fn counted(chances: &[f64], wanted: f64) -> LeftOut {
        let with = |outside: f64| 1.0 - 2.0 * outside;
        let mut outside = chances[0];
        let mut count = 0;
        while count + 1 < chances.len() && reaches(with(outside + chances[count + 1]), wanted) {
            count += 1;
            outside += chances[count];
        }
        LeftOut { count, confidence: with(outside).max(0.0) }
    }

    /// As [`counted`], for a statistic that is approximately normal.
    fn approximate(mean: f64, variance: f64, wanted: f64) -> LeftOut {
        let count = mean - student::normal_two_sided(wanted) * variance.sqrt() - 0.5;
        LeftOut { count: count.max(0.0) as usize, confidence: wanted }
    }
}

fn shift(mut values: Vec<f64>, LeftOut { count, confidence }: LeftOut) -> Shift {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let middle = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
    let (low, high) = (values[count], values[n - 1 - count]);
    Shift { middle, low, high, confidence, left_out: [count, n] }
}

/// Returns the chance of each number of pairs in which the second value is larger, if `n` and `m` values are alike:
/// Mann and Whitney's recursion over the side of the largest value.
fn rank_sums(n: usize, m: usize) -> Vec<f64> {
    // Indexed by the number of values of the second side, for the number of the first side so far.
    let mut of: Vec<Vec<f64>> = (0..=m).map(|_| vec![1.0]).collect();
    for i in 1..=n {
        let mut next = vec![vec![1.0]];
        for j in 1..=m {
            let (largest_first, largest_second) = (&of[j], &next[j - 1]);
            let share = i as f64 / (i + j) as f64;
            let at = |sums: &[f64], u: Option<usize>| {
                u.and_then(|u| sums.get(u).copied()).unwrap_or(0.0)
            };
            // If the largest value is of the second side, it exceeds all i of the first.
            let chance = |u: usize| {
                share * at(largest_first, Some(u))
                    + (1.0 - share) * at(largest_second, u.checked_sub(i))
            };
            let sums = (0..=i * j).map(chance).collect();
            next.push(sums);
        }
        of = next;
    }
    of.swap_remove(m)
}

/// Returns the chance of each sum of the ranks of the positive ones of `n` values, if each is positive or negative with
/// equal chance.
fn signed_rank_sums(n: usize) -> Vec<f64> {
    let mut chances = vec![1.0];
    for rank in 1..=n {
        let mut next = vec![0.0; chances.len() + rank];
        for (sum, chance) in chances.iter().enumerate() {
            next[sum] += chance / 2.0;
            next[sum + rank] += chance / 2.0;
        }
        chances = next;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributions::DISTRIBUTIONS;
    use random::SplitMix64;

    /// Returns the chances by counting all arrangements of `n` and `m` values.
    fn counted(n: usize, m: usize) -> Vec<f64> {
        let mut counts = vec![0.0; n * m + 1];
        let mut all = 0.0;
        for set in 0u32..1 << (n + m) {
            if set.count_ones() as usize != m {
                continue;
            }
            let is_second = |place: usize| set >> place & 1 == 1;
            let (mut firsts, mut pairs) = (0, 0);
            (0..n + m)
                .for_each(|place| if is_second(place) { pairs += firsts } else { firsts += 1 });
            counts[pairs] += 1.0;
            all += 1.0;
        }
        counts.iter().map(|count| count / all).collect()
    }

    #[test]
    fn the_distributions_agree_with_counting_every_arrangement() {
        for (n, m) in [(1, 1), (2, 3), (4, 4), (6, 5), (1, 7)] {
            let (found, oracle) = (rank_sums(n, m), counted(n, m));
            assert_eq!(found.len(), oracle.len());
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
            assert!(found.iter().zip(&oracle).all(is_near), "{n} and {m}: {found:?} {oracle:?}");
        }
        // Three signs in 8 combinations: the sums 0 to 6 occur 1, 1, 1, 2, 1, 1 and 1 times.
        assert_eq!(signed_rank_sums(3), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0].map(|ways| ways / 8.0));
    }

    #[test]
    fn four_launches_on_each_side_reach_95_percent_and_three_do_not() {
        // All of one side below all of the other: 2 of C(8, 4) = 70 and 2 of C(6, 3) = 20 arrangements.
        let sides = |n: usize| -> Shift { between(&[[vec![0.0; n], vec![1.0; n]]], 0.95) };
        assert!((sides(4).confidence - (1.0 - 2.0 / 70.0)).abs() < 1e-12);
        assert!((sides(3).confidence - (1.0 - 2.0 / 20.0)).abs() < 1e-12);
        // Six pairs: 2 of 64; five: 2 of 32.
        let pairs = |n: usize| -> Shift { paired(&vec![0.0; n], &vec![1.0; n], 0.95) };
        assert_eq!(
            (pairs(6).confidence, pairs(5).confidence),
            (1.0 - 2.0 / 64.0, 1.0 - 2.0 / 32.0)
        );
    }

    #[test]
    fn six_on_each_side_leave_five_ratios_out_at_both_ends() {
        // P(U <= 5) of six and six is 19 / 924 = 2.06 %, and P(U <= 6) = 30 / 924: five are left out.
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..6).map(f64::from).collect(), (0..6).map(|i| 10.0 * f64::from(i)).collect());
        let found = between(&[[a.clone(), b.clone()]], 0.95);
        let mut all: Vec<f64> = b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
        all.sort_by(f64::total_cmp);
        assert_eq!((found.low, found.high), (all[5], all[30]));
        assert!((found.confidence - (1.0 - 38.0 / 924.0)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn strata_are_compared_within_themselves_by_hand() {
        // All of the second side are larger by 1, but the strata are 100 apart, and the second side has more of the
        // lower one: of all pairs, most are smaller.
        let strata = [[vec![0.0], vec![1.0; 3]], [vec![100.0; 3], vec![101.0]]];
        let found = between(&strata, 0.7);
        // Each stratum has one order of C(4, 1) = 4 in which a side is all above: 2 of 16 arrangements are as extreme.
        assert_eq!((found.middle, found.low, found.high), (1.0, 1.0, 1.0));
        let all = between(&strata, 0.87);
        assert!((all.confidence - (1.0 - 2.0 / 16.0)).abs() < 1e-12, "{all:?}");
        // (0 1 2 3) / 4 and the same: the sums 0 to 6 occur 1, 2, 3, 4, 3, 2 and 1 times in 16.
        let sums = sum_chances(&rank_sums(1, 3), &rank_sums(3, 1));
        assert_eq!(sums, [1.0, 2.0, 3.0, 4.0, 3.0, 2.0, 1.0].map(|ways| ways / 16.0));
    }

    #[test]
    fn many_values_agree_with_the_normal_approximation() {
        let near = |counted: LeftOut, approximate: LeftOut| {
            assert!(counted.count.abs_diff(approximate.count) <= 2 + counted.count / 200);
            assert!((0.949..0.953).contains(&counted.confidence), "{}", counted.confidence);
        };
        let normal = |sums: f64, variance: f64| LeftOut::approximate(sums, variance, 0.95);
        near(LeftOut::counted(&rank_sums(31, 31), 0.95), normal(961.0 / 2.0, 961.0 * 63.0 / 12.0));
        let sums = 140.0 * 141.0;
        near(
            LeftOut::counted(&signed_rank_sums(140), 0.95),
            normal(sums / 4.0, sums * 281.0 / 24.0),
        );
    }

    #[test]
    fn intervals_cover_the_shift_as_often_as_they_claim() {
        const TRIALS: usize = 2000;
        let mut random = SplitMix64::new(2030);
        for distribution in DISTRIBUTIONS {
            for n in [6, 10] {
                let mut covered = [0, 0];
                let mut claimed = [0.0, 0.0];
                for _ in 0..TRIALS {
                    let a = distribution.draws(n, &mut random);
                    let b: Vec<f64> = distribution
                        .draws(n, &mut random)
                        .iter()
                        .map(|value| value + 3.0)
                        .collect();
                    let pairs = paired(&a, &b, 0.95);
                    for (method, found) in [between(&[[a, b]], 0.95), pairs].iter().enumerate() {
                        covered[method] += usize::from((found.low..=found.high).contains(&3.0));
                        claimed[method] = found.confidence;
                    }
                }
                for method in [0, 1] {
                    let share = covered[method] as f64 / TRIALS as f64;
                    let error =
                        4.0 * (claimed[method] * (1.0 - claimed[method]) / TRIALS as f64).sqrt();
                    assert!(
                        share >= claimed[method] - error,
                        "{distribution:?}, {n}, {method}: {share}"
                    );
                }
            }
        }
    }
}
