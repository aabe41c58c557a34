//! Bounds of a miss rate from a count of misses.

/// Returns the exact upper confidence bound of the probability of an event that occurred in `count` out of `n`
/// independent trials: the largest p that is not refuted, where `count` or fewer would happen with probability 1 -
/// `confidence` (Clopper and Pearson, Biometrika 26, 1934, one-sided). 0 of n gives 1 - (1 - confidence)^(1/n), about 3
/// / n at 95 %. Returns 1 if there were no trials.
///
/// # Panics
/// If `count` is above `n`, or `confidence` not between 0 and 1.
pub fn probability_max(count: u64, n: u64, confidence: f64) -> f64 {
    assert!(count <= n, "{count} of {n} is no share");
    assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
    if count == n {
        return 1.0;
    }
    let alpha = 1.0 - confidence;
    if count == 0 {
        return -(alpha.ln() / n as f64).exp_m1();
    }
    // The probability of `count` or fewer falls as p grows.
    let (mut low, mut high) = (count as f64 / n as f64, 1.0);
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if at_most(count, n, middle) > alpha { low = middle } else { high = middle }
    }
    high
}

/// Returns the most misses out of `n` for which the upper bound is at most `rate`; `None` if even no miss would not
/// show it.
pub fn misses_allowed(n: u64, rate: f64, confidence: f64) -> Option<u64> {
    let shows = |count: u64| probability_max(count, n, confidence) <= rate;
    if n == 0 || !shows(0) {
        return None;
    }
    // Above n * rate misses the bound exceeds the rate, because it exceeds the share of misses.
    let (mut allowed, mut refused) = (0, (n as f64 * rate) as u64 + 1);
    while refused - allowed > 1 {
        let middle = allowed + (refused - allowed) / 2;
        if middle <= n && shows(middle) { allowed = middle } else { refused = middle }
    }
    Some(allowed)
}

/// Returns the number of trials that prove a probability of at most `rate` for an event that never happens.
pub fn trials_needed(rate: f64, confidence: f64) -> u64 {
    // Reduced by less than the rounding error, so that rounding does not add a trial.
    ((1.0 - confidence).ln() / (-rate).ln_1p() * (1.0 - 1e-12)).ceil().max(1.0) as u64
}

/// Returns P(B(n, p) <= count) for a p above count / n, summed from the largest term down so that a long tail costs
/// nothing.
pub(crate) fn at_most(count: u64, n: u64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    // Terms grow up to `count`.
    let mut term = ln_term(count, n, p).exp();
    let mut sum = 0.0;
    for k in (0..=count).rev() {
        sum += term;
        // B(k - 1) = B(k) * k / (n - k + 1) * (1 - p) / p
        term *= k as f64 / (n - k + 1) as f64 * odds;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// Returns the logarithm of P(B(n, p) = k).
fn ln_term(k: u64, n: u64, p: f64) -> f64 {
    let choose = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    choose + k as f64 * p.ln() + (n - k) as f64 * (-p).ln_1p()
}

/// Returns ln n!, by Stirling's series. Three terms of it give all digits from 32 on.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|k| (k as f64).ln()).sum();
    }
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x + 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} where {expected} is expected");
    }

    #[test]
    fn none_of_n_is_about_three_in_n() {
        close(probability_max(0, 1, 0.95), 0.95);
        // 1 - 0.05^(1/299)
        close(probability_max(0, 299, 0.95), 1.0 - 0.05f64.powf(1.0 / 299.0));
        assert!((probability_max(0, 1_000_000, 0.95) * 1e6 - 3.0).abs() < 0.005);
    }

    #[test]
    fn short_cases_by_hand() {
        // 1 of 2: (1-p)^2 + 2p(1-p) = 1 - p^2 = 0.05
        close(probability_max(1, 2, 0.95), 0.95f64.sqrt());
        // 2 of 3: 1 - p^3 = 0.1
        close(probability_max(2, 3, 0.9), 0.9f64.cbrt());
        assert_eq!(probability_max(3, 3, 0.95), 1.0);
        assert_eq!(probability_max(0, 0, 0.95), 1.0);
    }

    #[test]
    fn the_bound_is_where_so_few_are_just_as_unlikely_as_wanted() {
        // The slow sum over exact products is the oracle.
        let slow = |count: u64, n: u64, p: f64| -> f64 {
            (0..=count)
                .map(|k| {
                    let choose: f64 = (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product();
                    choose * p.powf(k as f64) * (1.0 - p).powf((n - k) as f64)
                })
                .sum()
        };
        let mut random = SplitMix64::new(11);
        for _ in 0..200 {
            let n = 1 + random.bits() % 300;
            let count = random.bits() % n;
            let bound = probability_max(count, n, 0.95);
            assert!((slow(count, n, bound) - 0.05).abs() < 1e-7, "{count} of {n}: {bound}");
        }
    }

    #[test]
    fn allowed_misses_are_the_most_that_still_show_the_rate() {
        let mut random = SplitMix64::new(5);
        for _ in 0..100 {
            let n = 1 + random.bits() % 20_000;
            let rate = 0.0005 + 0.05 * random.uniform();
            let shows = |count| probability_max(count, n, 0.95) <= rate;
            match misses_allowed(n, rate, 0.95) {
                Some(most) => assert!(shows(most) && !shows(most + 1), "{n} at {rate}: {most}"),
                None => assert!(!shows(0), "{n} at {rate}"),
            }
        }
    }

    #[test]
    fn the_trials_needed_are_just_enough() {
        assert_eq!(trials_needed(0.01, 0.95), 299);
        for (rate, confidence) in [(0.01, 0.95), (0.001, 0.99), (0.5, 0.95), (1e-6, 0.95)] {
            let n = trials_needed(rate, confidence);
            assert!(misses_allowed(n, rate, confidence).is_some(), "{rate}");
            assert!(n == 1 || misses_allowed(n - 1, rate, confidence).is_none(), "{rate}");
        }
    }
}
