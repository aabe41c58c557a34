//! Recomputes verdicts from launches by definition: slowly, and by none of the functions that compare.

use random::SplitMix64;
use record::{Measurement, Run};

use super::{Settings, Verdict, compare};
use crate::launches::pooled;
use crate::records::{measurement, run, with_line};

const NUMBERS: usize = 7;
const LAUNCHES: usize = 6;
/// Hand-over of a line in two states, and the factor of every number in them.
const STATES: [(f64, f64); 2] = [(0.05, 1.0), (0.16, 2.0)];

/// A launch of a number: its median, its state unless that changed, and the logarithm of its slowdown.
type Drawn = (f64, Option<usize>, f64);

/// Draws the launches of each number, which takes `times` as long.
fn drawn(random: &mut SplitMix64, times: [f64; NUMBERS], noise: f64, busy: f64) -> Vec<Vec<Drawn>> {
    let launch = |random: &mut SplitMix64, times: f64| {
        let state = usize::from(random.uniform() < 0.3);
        let slowdown = 0.2 * busy * random.uniform();
        let log = 0.8 * slowdown + noise * random.normal();
        let is_known = random.uniform() < 0.95;
        (10.0 * times * STATES[state].1 * log.exp(), is_known.then_some(state), slowdown)
    };
    times.iter().map(|&t| (0..LAUNCHES).map(|_| launch(random, t)).collect()).collect()
}

fn as_run(numbers: &[Vec<Drawn>]) -> Run {
    let mut all = Vec::new();
    for (size, launches) in numbers.iter().enumerate() {
        for (launch, &(median, state, slowdown)) in (0..).zip(launches) {
            let line_us = match state {
                Some(state) => [STATES[state].0; 2],
                None => [STATES[0].0, STATES[1].0],
            };
            let m = Measurement { launch, ranks: 1, ..measurement("x", size as u64, &[median]) };
            let mut m = with_line(m, line_us);
            m.turns[0].operations_ns = vec![0.1 * slowdown.exp(); 3];
            all.push(m);
        }
    }
    pooled(run(all))
}

/// Student's t by Simpson's rule and bisection, for whole and half numbers of degrees of freedom alike.
fn t(confidence: f64, freedom: f64) -> f64 {
    let density = |x: f64| (1.0 + x * x / freedom).powf(-(freedom + 1.0) / 2.0);
    let area = |to: f64| {
        let steps = 2_000;
        let h = to / f64::from(steps);
        let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        (0..=steps).map(|i| weight(i) * density(h * f64::from(i))).sum::<f64>() * h / 3.0
    };
    // The tail beyond 1000 is below 1e-9 from five degrees of freedom on.
    let whole = area(40.0) + 40.0 * density(40.0) / freedom;
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if area(middle) / whole < confidence { low = middle } else { high = middle }
    }
    low
}

/// Counts for each number of pairs (a, b) with a < b how many arrangements of both sides have it, over all states.
fn arrangements(sizes: &[[usize; 2]]) -> Vec<f64> {
    let mut counts = vec![1.0];
    for &[n, m] in sizes {
        let mut of_state = vec![0.0; n * m + 1];
        for set in (0u32..1 << (n + m)).filter(|set| set.count_ones() as usize == m) {
            let second = |place: usize| set >> place & 1 == 1;
            let below = |place: usize| (0..place).filter(|&other| !second(other)).count();
            of_state[(0..n + m).filter(|&place| second(place)).map(below).sum::<usize>()] += 1.0;
        }
        let mut sums = vec![0.0; counts.len() + n * m];
        for (i, a) in counts.iter().enumerate() {
            of_state.iter().enumerate().for_each(|(j, b)| sums[i + j] += a * b);
        }
        counts = sums;
    }
    counts
}

/// A number at one speed of the processors, in the states that both sides met.
struct Number {
    differences: Vec<f64>,
    counts: Vec<f64>,
    freedom: f64,
    error: f64,
}

fn number(a: &[Drawn], b: &[Drawn]) -> Option<Number> {
    let of = |side: &[Drawn], state: usize| -> Vec<(f64, f64)> {
        let in_state = side.iter().filter(|one| one.1 == Some(state));
        in_state.map(|&(median, _, slowdown)| (slowdown, median.ln())).collect()
    };
    let met: Vec<[Vec<(f64, f64)>; 2]> = (0..STATES.len())
        .map(|state| [of(a, state), of(b, state)])
        .filter(|both| both.iter().all(|side| !side.is_empty()))
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let middle = |side: &[(f64, f64)]| {
        [
            mean(&side.iter().map(|p| p.0).collect::<Vec<_>>()),
            mean(&side.iter().map(|p| p.1).collect::<Vec<_>>()),
        ]
    };
    let around: Vec<(f64, f64)> = met
        .iter()
        .flatten()
        .flat_map(|side| side.iter().map(|p| (p.0 - middle(side)[0], p.1 - middle(side)[1])))
        .collect();
    let sides = met.iter().flatten().count();
    let n = around.len();
    if n <= sides {
        return None;
    }
    let variance = around.iter().map(|(x, y)| (y - x).powi(2)).sum::<f64>() / (n - sides) as f64;
    let precision = around.iter().map(|(x, _)| x * x).sum::<f64>() + 4.0 * variance;
    let slope = (around.iter().map(|(x, y)| x * y).sum::<f64>() + 4.0 * variance) / precision;
    let weight = |both: &[Vec<(f64, f64)>; 2]| {
        1.0 / (1.0 / both[0].len() as f64 + 1.0 / both[1].len() as f64)
    };
    let distance = |both: &[Vec<(f64, f64)>; 2]| middle(&both[1])[0] - middle(&both[0])[0];
    let distance = met.iter().map(|both| weight(both) * distance(both)).sum::<f64>()
        / met.iter().map(weight).sum::<f64>();
    let mut differences: Vec<f64> = met
        .iter()
        .flat_map(|[a, b]| a.iter().flat_map(|a| b.iter().map(|b| b.1 - a.1 - slope * (b.0 - a.0))))
        .collect();
    differences.sort_by(f64::total_cmp);
    let sizes: Vec<[usize; 2]> = met.iter().map(|[a, b]| [a.len(), b.len()]).collect();
    let error = (variance / precision).sqrt() * distance;
    Some(Number { differences, counts: arrangements(&sizes), freedom: n as f64 - 2.0, error })
}

impl Number {
    fn middle(&self) -> f64 {
        let all = &self.differences;
        (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0
    }

    /// Returns the ends of the interval of this confidence, and the confidence that it reaches.
    fn interval(&self, confidence: f64, error: f64) -> (f64, f64, f64) {
        let all: f64 = self.counts.iter().sum();
        let missed = |count: usize| 2.0 * self.counts[..=count].iter().sum::<f64>() / all;
        let n = self.differences.len();
        let count =
            (0..n).take_while(|&c| missed(c) <= 1.0 - confidence + 1e-12).last().unwrap_or(0);
        let reach = t(confidence, self.freedom) * error;
        let (low, high) = (self.differences[count], self.differences[n - 1 - count]);
        let middle = self.middle();
        let low = middle - ((middle - low).powi(2) + reach * reach).sqrt();
        let high = middle + ((high - middle).powi(2) + reach * reach).sqrt();
        (low, high, 1.0 - missed(count))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Returns the verdicts within 5 % of all numbers, all of which are times.
fn verdicts(a: &[Vec<Drawn>], b: &[Vec<Drawn>]) -> Vec<Verdict> {
    let numbers: Vec<Option<Number>> = a.iter().zip(b).map(|(a, b)| number(a, b)).collect();
    let decide = |n: &&Number| n.interval(0.95, 0.0).2 >= 0.95 - 1e-12;
    let decided: Vec<&Number> = numbers.iter().flatten().filter(decide).collect();
    let [mut shared, mut error] = [0.0, 0.0];
    if decided.len() >= 6 {
        shared = median(decided.iter().map(|n| n.middle()).collect());
        let beyond = |n: &&Number| {
            let (low, high, reached) = n.interval(0.95, n.error);
            let own = (high - low) / 2.0 / t(reached, n.freedom);
            (((n.middle() - shared) / 0.6745).powi(2) - own * own).max(0.0).sqrt()
        };
        error = median(decided.iter().map(beyond).collect()).min(2f64.ln() / 2.0);
    }
    let verdict = |n: &Option<Number>| {
        let Some(n) = n.as_ref().filter(decide) else { return Verdict::Undecided };
        let error = (n.error * n.error + error * error).sqrt();
        let [wide, narrow] = [0.95, 0.9].map(|confidence| {
            let (low, high, _) = n.interval(confidence, error);
            (low - shared.clamp(0.0, 2f64.ln()), high - shared.clamp(-2f64.ln(), 0.0))
        });
        let limit = 1.05f64.ln();
        match () {
            () if -limit <= narrow.0 && narrow.1 <= limit => Verdict::Same,
            () if wide.0 > limit => Verdict::Slower,
            () if wide.1 < -limit => Verdict::Faster,
            () => Verdict::Undecided,
        }
    };
    numbers.iter().map(verdict).collect()
}

#[test]
fn verdicts_are_those_of_a_slow_computation_by_definition() {
    let mut counts = [0; 4];
    for seed in 1..=6 {
        let mut random = SplitMix64::new(seed);
        let noise = [0.002, 0.005, 0.01][seed as usize % 3];
        let a = drawn(&mut random, [1.0; NUMBERS], noise, 0.2);
        let b = drawn(&mut random, [1.0, 1.01, 1.2, 0.8, 1.0, 0.99, 1.05], noise, 0.6);
        let settings = Settings { mostly_alike: true, ..Settings::default() };
        let found: Vec<Verdict> = compare(&as_run(&a), &as_run(&b), settings)
            .comparisons
            .iter()
            .map(|one| one.verdict)
            .collect();
        let expected = verdicts(&a, &b);
        assert_eq!(found, expected, "seed {seed}");
        expected.iter().for_each(|verdict| counts[*verdict as usize] += 1);
    }
    // More than twenty verdicts, some of each kind.
    assert!(counts.iter().all(|&count| count >= 3), "{counts:?}");
}
