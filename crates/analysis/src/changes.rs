//! The times at which a number that is measured repeatedly changed its level.
//!
//! The algorithm is E-divisive with means (Matteson and James, *A nonparametric approach for multiple change point
//! analysis of multivariate data*, Journal of the American Statistical Association 109, 2014), which Apache Otava and
//! its predecessors use for the changes of benchmarks. It cuts the series where the distributions before and after are
//! farthest apart, and then each part again. It stops once a permutation test shows that values in another order would
//! often be as far apart. It assumes nothing of the distribution, and one outlier is no change.

use serde::Serialize;

use crate::compare::{Effect, effect_between};
use random::SplitMix64;

/// Settings of the search for changes.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Probability that a change is found in a series without one.
    pub false_alarm: f64,
    /// Number of permutations of the values that are tried.
    pub permutations: u32,
    /// Minimum number of values of a level.
    pub shortest: usize,
    /// Seed of the permutations.
    pub seed: u64,
    /// Confidence of the interval of a change's size.
    pub confidence: f64,
}

impl Default for Search {
    fn default() -> Self {
        Search { false_alarm: 0.01, permutations: 499, shortest: 2, seed: 1, confidence: 0.95 }
    }
}

/// One change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Index of the first value of the new level, counted from 0.
    pub at: usize,
    /// Probability that values without a change seem to change as much; 0 for exact values.
    pub chance: f64,
    /// New level over the old one, with its interval; `None` if a value is not above 0.
    pub effect: Option<Effect>,
}

/// A place to cut, and the distance between both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    at: usize,
    distance: f64,
}

/// Returns the changes of a series, in order. Distances are of logarithms if all values are above 0, so that a level
/// twice as high is as far away as one half as high.
pub fn changes(values: &[f64], search: &Search) -> Vec<Change> {
    let positive = values.iter().all(|value| *value > 0.0);
    let mut scaled: Vec<f64> =
        values.iter().map(|value| if positive { value.ln() } else { *value }).collect();
    let mut random = SplitMix64::new(search.seed);
    let mut ends = vec![0, values.len()];
    let mut chances: Vec<(usize, f64)> = Vec::new();
    while let Some(cut) = best_cut(&scaled, &ends, search.shortest) {
        let chance = chance(&mut scaled, &ends, cut.distance, search, &mut random);
        if chance > search.false_alarm {
            break;
        }
        chances.push((cut.at, chance));
        ends.push(cut.at);
        ends.sort_unstable();
    }
    chances.sort_by_key(|(at, _)| *at);
    let level = |at: usize| -> [&[f64]; 2] {
        let place = ends.iter().position(|end| *end == at).unwrap_or(0);
        [&values[ends[place - 1]..at], &values[at..ends[place + 1]]]
    };
    let change = |&(at, chance): &(usize, f64)| Change {
        at,
        chance,
        effect: effect_between(level(at), search.confidence),
    };
    chances.iter().map(change).collect()
}

/// Returns the changes of a series of exact values: every difference between neighbours.
pub fn exact_changes(values: &[f64]) -> Vec<Change> {
    let different = values.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]);
    let change = |(before, pair): (usize, &[f64])| {
        let ratio = pair[1] / pair[0];
        let is_positive = pair.iter().all(|&value| value > 0.0);
        let effect = Effect { ratio, low: ratio, high: ratio, confidence: 1.0 };
        Change { at: before + 1, chance: 0.0, effect: is_positive.then_some(effect) }
    };
    different.map(change).collect()
}

/// Returns the cut with the largest distance of all parts between `ends`.
fn best_cut(values: &[f64], ends: &[usize], shortest: usize) -> Option<Cut> {
    let of_part = |part: &[usize]| {
        let cut = farthest(&values[part[0]..part[1]], shortest)?;
        Some(Cut { at: part[0] + cut.at, ..cut })
    };
    ends.windows(2).filter_map(of_part).max_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// Returns the cut of `values` at which the sample energy distance, weighted by n m / (n + m), is largest: n m / (n +
/// m) times 2 E|X - Y| - E|X - X'| - E|Y - Y'|, where all expectations are means over the pairs of values.
fn farthest(values: &[f64], shortest: usize) -> Option<Cut> {
    let all = values.len();
    let between = |one: usize, others: &[f64]| -> f64 {
        others.iter().map(|other| (values[one] - other).abs()).sum()
    };
    // The sums over pairs within the left, within the right, and across, as the cut moves to the right.
    let (mut left, mut across) = (0.0, 0.0);
    let mut right: f64 = (0..all).map(|one| between(one, &values[one + 1..])).sum();
    let mut best: Option<Cut> = None;
    for at in 1..all {
        let moved = at - 1;
        let (before, after) = (between(moved, &values[..moved]), between(moved, &values[at..]));
        left += before;
        right -= after;
        across += after - before;
        if at < shortest || all - at < shortest {
            continue;
        }
        let (n, m) = (at as f64, (all - at) as f64);
        let distance = n * m / (n + m)
            * (2.0 * across / (n * m) - 2.0 * left / (n * n) - 2.0 * right / (m * m));
        if best.is_none_or(|best| distance > best.distance) {
            best = Some(Cut { at, distance });
        }
    }
    best
}

/// Returns the share of permutations of the values of each part that can be cut as far apart. The permutations are
/// seeded, and the present order counts as one.
fn chance(
    values: &mut [f64],
    ends: &[usize],
    distance: f64,
    search: &Search,
    random: &mut SplitMix64,
) -> f64 {
    let kept = values.to_vec();
    // Equal distances may differ by rounding if they were summed in another order.
    let as_far = distance * (1.0 - 1e-9);
    let mut farther = 0;
    for _ in 0..search.permutations {
        ends.windows(2).for_each(|part| random.shuffle(&mut values[part[0]..part[1]]));
        let cut = best_cut(values, ends, search.shortest);
        farther += u32::from(cut.is_some_and(|cut| cut.distance >= as_far));
    }
    values.copy_from_slice(&kept);
    f64::from(farther + 1) / f64::from(search.permutations + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<usize> {
        changes(values, &Search::default()).iter().map(|change| change.at).collect()
    }

    /// Returns the weighted energy distance by its definition.
    fn by_definition(left: &[f64], right: &[f64]) -> f64 {
        let mean = |a: &[f64], b: &[f64]| {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs()));
            pairs.sum::<f64>() / (a.len() * b.len()) as f64
        };
        let (n, m) = (left.len() as f64, right.len() as f64);
        n * m / (n + m) * (2.0 * mean(left, right) - mean(left, left) - mean(right, right))
    }

    #[test]
    fn two_levels_by_hand() {
        // 1 1 3 3: if it is cut in the middle, E|X - Y| is 2 and the others 0, so 2 * 2 / 4 * 4 = 4.
        assert_eq!(farthest(&[1.0, 1.0, 3.0, 3.0], 1), Some(Cut { at: 2, distance: 4.0 }));
        assert_eq!(farthest(&[1.0, 1.0, 3.0, 3.0], 3), None);
        assert_eq!(farthest(&[], 1), None);
    }

    #[test]
    fn the_best_cut_is_that_of_the_definition() {
        for seed in 0..200 {
            let mut random = SplitMix64::new(seed);
            let n = 4 + (random.bits() % 12) as usize;
            let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let cut = farthest(&values, 2).unwrap();
            let oracle = |at: usize| by_definition(&values[..at], &values[at..]);
            assert!((cut.distance - oracle(cut.at)).abs() < 1e-9, "seed {seed}");
            let best = (2..=n - 2).map(oracle).fold(f64::MIN, f64::max);
            assert!((cut.distance - best).abs() < 1e-9, "seed {seed}: {cut:?} for {best}");
        }
    }

    #[test]
    fn the_chance_is_the_share_of_all_orders_that_are_as_far_apart() {
        // All 5040 orders of 7 values, one after the other, by Heap's algorithm.
        fn orders(values: &mut Vec<f64>, k: usize, each: &mut dyn FnMut(&[f64])) {
            if k <= 1 {
                return each(values);
            }
            for i in 0..k {
                orders(values, k - 1, each);
                values.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
            }
        }
        let values = [1.0, 1.2, 0.9, 1.1, 2.0, 2.3, 2.1];
        let distance = farthest(&values, 2).unwrap().distance;
        let (mut all, mut farther) = (0, 0);
        orders(&mut values.to_vec(), 7, &mut |order| {
            all += 1;
            farther += u32::from(farthest(order, 2).unwrap().distance >= distance * (1.0 - 1e-9));
        });
        assert_eq!(all, 5040);
        let exact = f64::from(farther) / f64::from(all);
        let search = Search { permutations: 9999, ..Search::default() };
        let random = &mut SplitMix64::new(7);
        let drawn = chance(&mut values.to_vec(), &[0, 7], distance, &search, random);
        // Four standard errors of a share of 10 000.
        assert!((drawn - exact).abs() < 4.0 * (exact / 10_000.0).sqrt(), "{drawn} for {exact}");
    }

    #[test]
    fn changes_are_found_where_they_are_with_how_large_they_are() {
        let seed = 2040;
        let mut random = SplitMix64::new(seed);
        let levels = [(20, 10.0), (15, 11.0), (25, 8.0)];
        let values: Vec<f64> = levels
            .iter()
            .flat_map(|&(n, level)| std::iter::repeat_n(level, n))
            .map(|level| level * (1.0 + 0.01 * random.normal()))
            .collect();
        let all = changes(&values, &Search::default());
        let places: Vec<usize> = all.iter().map(|change| change.at).collect();
        assert_eq!(places, [20, 35], "seed {seed}");
        for (change, ratio) in all.iter().zip([1.1, 8.0 / 11.0]) {
            let effect = change.effect.unwrap();
            assert!((effect.low..=effect.high).contains(&ratio) && change.chance <= 0.01);
        }
    }

    #[test]
    fn one_value_that_is_off_is_no_change_and_few_values_have_none() {
        let mut values: Vec<f64> = (0..30).map(|i| 10.0 + 0.1 * f64::from(i * 7 % 10)).collect();
        values[13] = 50.0;
        assert!(found(&values).is_empty());
        assert!(found(&[]).is_empty());
        assert!(found(&[1.0]).is_empty());
        assert!(found(&[1.0, 1.0, 2.0, 2.0]).is_empty());
        assert!(found(&[5.0; 40]).is_empty());
        // Values of zero and below have no logarithm, but changes among them are found.
        let stepped: Vec<f64> = (0..20).map(|i| if i < 10 { 0.0 } else { -1.0 }).collect();
        let all = changes(&stepped, &Search::default());
        assert!(all.len() == 1 && all[0].at == 10 && all[0].effect.is_none(), "{all:?}");
    }

    #[test]
    fn series_without_a_change_hardly_ever_seem_to_have_one() {
        let seed = 2041;
        let mut random = SplitMix64::new(seed);
        let search = Search { permutations: 199, ..Search::default() };
        let alarms = (0..300)
            .filter(|_| {
                let values: Vec<f64> = (0..24).map(|_| random.normal().exp()).collect();
                !changes(&values, &search).is_empty()
            })
            .count();
        // 1 % of 300 and three standard errors: 3 + 3 sqrt(2.97).
        assert!(alarms <= 8, "seed {seed}: {alarms} of 300");
    }

    #[test]
    fn every_difference_of_exact_values_is_a_change() {
        let found = exact_changes(&[2.0, 2.0, 3.0, 3.0, 2.0]);
        let ratios: Vec<(usize, f64)> =
            found.iter().map(|change| (change.at, change.effect.unwrap().ratio)).collect();
        assert_eq!(ratios, [(2, 1.5), (4, 2.0 / 3.0)]);
        assert_eq!(exact_changes(&[0.0, 1.0])[0].effect, None);
        assert!(exact_changes(&[1.0]).is_empty() && exact_changes(&[]).is_empty());
    }
}
