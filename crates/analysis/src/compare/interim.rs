//! The numbers of launches after which two builds that are measured launch by launch are compared, and the confidence
//! of each comparison.

use crate::launches::launches_needed;

/// Returns the numbers of launches on each side after which to check for a decision, each with the confidence of that
/// check.
///
/// A check after every launch that stops at the first difference eventually finds one where there is none. The errors
/// of all checks together must therefore not exceed that of one. The k-th check may err with 1 / (k (k + 1)) of the
/// permitted probability, which sums to 1. Each check has half as many launches again as the one before, and enough of
/// them for its confidence.
pub fn interim_checks(confidence: f64) -> impl Iterator<Item = (usize, f64)> {
    let of_check = move |k: u32| 1.0 - (1.0 - confidence) / f64::from(k * (k + 1));
    let first = (launches_needed(of_check(1)), 1);
    std::iter::successors(Some(first), move |(launches, k)| {
        let more = (launches * 3).div_ceil(2);
        Some((more.max(launches_needed(of_check(k + 1))), k + 1))
    })
    .map(move |(launches, k)| (launches, of_check(k)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Settings, Verdict, compare};
    use crate::records::{measurement, run};
    use random::SplitMix64;

    /// Checks pairs of launches of a machine with two states until a check decides, or 40 launches are made. In each
    /// pair both sides meet the same state nine times in ten.
    fn verdict_of(change: f64, random: &mut SplitMix64) -> Verdict {
        let state = |random: &mut SplitMix64| if random.uniform() < 0.3 { 4.0 } else { 1.0 };
        let mut sides = [Vec::new(), Vec::new()];
        for (launches, confidence) in
            interim_checks(0.95).take_while(|(launches, _)| *launches <= 40)
        {
            while sides[0].len() < launches {
                let shared = state(random);
                for (side, factor) in [(0, 1.0), (1, 1.0 + change)] {
                    let own = if random.uniform() < 0.9 { shared } else { state(random) };
                    sides[side].push(100.0 * own * factor * (1.0 + 0.02 * random.normal()));
                }
            }
            let [a, b] = [0, 1].map(|side| {
                let mut one = measurement("x", 8, &sides[side]);
                one.launch_medians = sides[side].clone();
                run(vec![one])
            });
            let settings = Settings { confidence, paired: true, ..Settings::default() };
            match compare(&a, &b, settings).comparisons[0].verdict {
                Verdict::Undecided => {}
                verdict => return verdict,
            }
        }
        Verdict::Undecided
    }

    #[test]
    fn checking_again_and_again_calls_hardly_any_build_different_from_itself_and_finds_a_change() {
        const TRIALS: usize = 200;
        let seed = 2031;
        let mut random = SplitMix64::new(seed);
        let mut count = |change: f64, verdict: Verdict| {
            (0..TRIALS).filter(|_| verdict_of(change, &mut random) == verdict).count()
        };
        let (slower, same, found) =
            (count(0.0, Verdict::Slower), count(0.0, Verdict::Same), count(0.15, Verdict::Slower));
        // 1 % of the trials; of the others 7 in 8.
        assert!(slower <= 2 && same >= 175, "seed {seed}: {slower} slower and {same} the same");
        assert!(found >= 175, "seed {seed}: {found} found");
    }

    #[test]
    fn checks_grow_and_err_together_no_more_often_than_one() {
        let all: Vec<(usize, f64)> = interim_checks(0.95).take(12).collect();
        // 2^(1 - 7) = 1.6 % is the first below 2.5 %.
        assert_eq!(all[0], (7, 0.975));
        assert_eq!([all[1].0, all[2].0, all[3].0], [11, 17, 26]);
        let errors: f64 = all.iter().map(|(_, confidence)| 1.0 - confidence).sum();
        // 1 / (k (k + 1)) = 1/k - 1/(k + 1).
        assert!((errors - 0.05 * (1.0 - 1.0 / 13.0)).abs() < 1e-12);
        assert!(all.iter().all(|&(launches, confidence)| launches_needed(confidence) <= launches));
    }
}
