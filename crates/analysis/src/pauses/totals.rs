//! A summary of pauses of bounded size: worst windows, and the loss in stretches of the time.
//! Its size does not grow with the time.

use std::collections::VecDeque;

use record::{PauseSummary, WorstWindow};

use crate::student;

/// Lengths of the windows for which the largest loss is found, in picoseconds.
const WINDOWS_PS: [u64; 4] = [1_000_000_000, 10_000_000_000, 100_000_000_000, 1_000_000_000_000];
/// Maximum number of pauses that a window stores. If there are more, the first are removed and less is counted.
const WINDOW_PAUSES_MAX: usize = 1 << 14;
/// Number of stretches at which they are joined in pairs, so that at least half as many show how much the loss varies.
const STRETCHES_MAX: usize = 64;
const STRETCH_PS: u64 = 10_000_000_000;

/// The summary of the pauses of one processor.
#[derive(Clone, Debug, PartialEq)]
pub struct PauseTotals {
    count: u64,
    lost_ps: u64,
    longest_ps: u64,
    limit_ps: u64,
    beyond_limit: u64,
    windows: [Window; WINDOWS_PS.len()],
    stretch_ps: u64,
    stretches: Vec<Stretch>,
}

/// A stretch of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stretch {
    lost_ps: u64,
    /// The part in which pauses were not observed.
    unobserved_ps: u64,
}

/// A window that slides over the pauses. The loss is largest where it ends with a pause: moved on from there it loses
/// nothing more.
#[derive(Clone, Debug, Default, PartialEq)]
struct Window {
    length_ps: u64,
    /// Beginning and length of the pauses in it, and the sum of the lengths.
    inside: VecDeque<[u64; 2]>,
    inside_ps: u64,
    worst_ps: u64,
    worst_at_ps: u64,
}

impl PauseTotals {
    /// Creates the summary of no pauses. Those longer than the limit are counted separately.
    pub fn new(limit_ps: u64) -> PauseTotals {
        // The memory is touched before the first pause, because a page fault would itself be a pause.
        let window = |length_ps| {
            let mut inside = VecDeque::from(vec![[1; 2]; WINDOW_PAUSES_MAX]);
            inside.clear();
            Window { length_ps, inside, ..Window::default() }
        };
        let mut stretches = vec![Stretch { lost_ps: 1, unobserved_ps: 1 }; STRETCHES_MAX];
        stretches.clear();
        PauseTotals {
            count: 0,
            lost_ps: 0,
            longest_ps: 0,
            limit_ps,
            beyond_limit: 0,
            windows: WINDOWS_PS.map(window),
            stretch_ps: STRETCH_PS,
            stretches,
        }
    }

    /// Counts a pause that began after all others.
    pub fn add(&mut self, at_ps: u64, length_ps: u64) {
        self.count += 1;
        self.lost_ps += length_ps;
        self.longest_ps = self.longest_ps.max(length_ps);
        self.beyond_limit += u64::from(length_ps > self.limit_ps);
        self.windows.iter_mut().for_each(|window| window.add(at_ps, length_ps));
        self.stretch_of(at_ps).lost_ps += length_ps;
    }

    /// Counts a time in which pauses were not observed: it is neither lost nor available.
    pub fn add_unobserved(&mut self, at_ps: u64, length_ps: u64) {
        // Stretches are joined first, so that their length stays the same in the loop.
        self.stretch_of(at_ps + length_ps);
        let (mut at_ps, end_ps) = (at_ps, at_ps + length_ps);
        while at_ps < end_ps {
            let next_ps = (at_ps / self.stretch_ps + 1) * self.stretch_ps;
            let until_ps = next_ps.min(end_ps);
            self.stretch_of(at_ps).unobserved_ps += until_ps - at_ps;
            at_ps = until_ps;
        }
    }

    /// Returns the stretch of this moment, after joining stretches as far as necessary.
    fn stretch_of(&mut self, at_ps: u64) -> &mut Stretch {
        while at_ps / self.stretch_ps >= STRETCHES_MAX as u64 {
            let all = &mut self.stretches;
            for pair in 0..all.len().div_ceil(2) {
                let second = all.get(2 * pair + 1).copied().unwrap_or_default();
                all[pair] = all[2 * pair].with(second);
            }
            all.truncate(all.len().div_ceil(2));
            self.stretch_ps *= 2;
        }
        let stretch = (at_ps / self.stretch_ps) as usize;
        if self.stretches.len() <= stretch {
            self.stretches.resize(stretch + 1, Stretch::default());
        }
        &mut self.stretches[stretch]
    }

    /// Returns the summary of the first `elapsed_ps`, with a lower bound of the share of the observed time that is
    /// available.
    pub fn summary(&self, elapsed_ps: u64, confidence: f64) -> PauseSummary {
        let unobserved_ps: u64 = self.stretches.iter().map(|one| one.unobserved_ps).sum();
        let looked_ps = elapsed_ps.saturating_sub(unobserved_ps);
        let available = 1.0 - self.lost_ps as f64 / looked_ps.max(1) as f64;
        let us = |ps: u64| ps as f64 / 1e6;
        let worst = self.windows.iter().filter(|w| w.length_ps <= looked_ps && w.worst_ps > 0);
        PauseSummary {
            count: self.count,
            longest_us: us(self.longest_ps),
            looked_s: us(looked_ps) / 1e6,
            available,
            available_at_least: self
                .margin(elapsed_ps, confidence)
                .map(|margin| (available - margin).max(0.0)),
            confidence,
            worst_windows: worst
                .map(|w| WorstWindow {
                    length_us: us(w.length_ps),
                    at_s: us(w.worst_at_ps) / 1e6,
                    lost_us: us(w.worst_ps),
                })
                .collect(),
            beyond_limit: self.beyond_limit,
            ..PauseSummary::default()
        }
    }

    /// Returns by how much the available share may be below the estimate, from its variation among the whole stretches:
    /// the error of a ratio estimator (Cochran, *Sampling Techniques*, section 2.11) with Student's t on one side;
    /// `None` for fewer than two stretches.
    fn margin(&self, elapsed_ps: u64, confidence: f64) -> Option<f64> {
        let whole = ((elapsed_ps / self.stretch_ps) as usize).min(STRETCHES_MAX);
        if whole < 2 {
            return None;
        }
        let of = |one: usize| {
            let Stretch { lost_ps, unobserved_ps } =
                self.stretches.get(one).copied().unwrap_or_default();
            (lost_ps as f64, self.stretch_ps.saturating_sub(unobserved_ps) as f64)
        };
        let sum = |value: &dyn Fn((f64, f64)) -> f64| (0..whole).map(|one| value(of(one))).sum();
        let (lost, observed): (f64, f64) = (sum(&|(lost, _)| lost), sum(&|(_, observed)| observed));
        let ratio = lost / observed.max(1.0);
        let squares: f64 = sum(&|(lost, observed)| (lost - ratio * observed).powi(2));
        let n = whole as f64;
        let error = (squares * n / (n - 1.0)).sqrt() / observed.max(1.0);
        Some(student::two_sided(2.0 * confidence - 1.0, whole - 1) * error)
    }

    /// Returns the summary as words, for another rank, without the pauses that the windows store.
    pub fn to_words(&self) -> Vec<u64> {
        let own = [self.count, self.lost_ps, self.longest_ps, self.limit_ps, self.beyond_limit];
        let windows = self.windows.iter().flat_map(|w| [w.worst_ps, w.worst_at_ps]);
        let stretches = self.stretches.iter().flat_map(|one| [one.lost_ps, one.unobserved_ps]);
        let words = own.into_iter().chain(windows);
        let head = [self.stretch_ps, self.stretches.len() as u64];
        words.chain(head).chain(stretches).collect()
    }

    /// Restores the result of [`to_words`](Self::to_words), and returns the words after it; `None` if these are not
    /// such words.
    pub fn from_words(words: &[u64]) -> Option<(PauseTotals, &[u64])> {
        let (&[count, lost_ps, longest_ps, limit_ps, beyond_limit], rest) =
            words.split_first_chunk::<5>()?;
        let (worst, rest) = rest.split_at_checked(2 * WINDOWS_PS.len())?;
        let (&[stretch_ps, count_of_stretches], rest) = rest.split_first_chunk::<2>()?;
        let words = usize::try_from(count_of_stretches).ok()?.checked_mul(2)?;
        let (stretches, rest) = rest.split_at_checked(words)?;
        let stretch = |&[lost_ps, unobserved_ps]: &[u64; 2]| Stretch { lost_ps, unobserved_ps };
        let mut windows = WINDOWS_PS.map(|length_ps| Window { length_ps, ..Window::default() });
        for (window, worst) in windows.iter_mut().zip(worst.as_chunks::<2>().0) {
            [window.worst_ps, window.worst_at_ps] = *worst;
        }
        let totals = PauseTotals {
            count,
            lost_ps,
            longest_ps,
            limit_ps,
            beyond_limit,
            windows,
            stretch_ps,
            stretches: stretches.as_chunks::<2>().0.iter().map(stretch).collect(),
        };
        Some((totals, rest))
    }
}

impl Stretch {
    /// Returns the sum of both.
    fn with(self, other: Stretch) -> Stretch {
        Stretch {
            lost_ps: self.lost_ps + other.lost_ps,
            unobserved_ps: self.unobserved_ps + other.unobserved_ps,
        }
    }
}

impl Window {
    fn add(&mut self, at_ps: u64, length_ps: u64) {
        if self.inside.len() >= WINDOW_PAUSES_MAX {
            self.forget_first();
        }
        self.inside.push_back([at_ps, length_ps]);
        self.inside_ps += length_ps;
        let begin_ps = (at_ps + length_ps).saturating_sub(self.length_ps);
        while self.inside.front().is_some_and(|&[at, length]| at + length <= begin_ps) {
            self.forget_first();
        }
        let before_ps = self.inside.front().map_or(0, |&[at, _]| begin_ps.saturating_sub(at));
        let lost_ps = self.inside_ps - before_ps;
        if lost_ps > self.worst_ps {
            (self.worst_ps, self.worst_at_ps) = (lost_ps, begin_ps);
        }
    }

    fn forget_first(&mut self) {
        if let Some([_, length_ps]) = self.inside.pop_front() {
            self.inside_ps -= length_ps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    const US: u64 = 1_000_000;

    fn totals(pauses: &[[u64; 2]]) -> PauseTotals {
        let mut totals = PauseTotals::new(20 * US);
        pauses.iter().for_each(|&[at, length]| totals.add(at, length));
        totals
    }

    /// Returns the largest loss in a window, by trying every beginning of a microsecond.
    fn worst_by_trying(pauses: &[[u64; 2]], length: u64, end: u64) -> u64 {
        let lost = |begin: u64| -> u64 {
            let overlap = |&[at, long]: &[u64; 2]| {
                (at + long).min(begin + length).saturating_sub(at.max(begin))
            };
            pauses.iter().map(overlap).sum()
        };
        (0..end / US).map(|begin| lost(begin * US)).max().unwrap()
    }

    #[test]
    fn the_worst_window_is_that_of_trying_every_beginning() {
        let seed = 2201;
        let mut random = SplitMix64::new(seed);
        for _ in 0..20 {
            let mut at = 0;
            let pauses: Vec<[u64; 2]> = (0..30)
                .map(|_| {
                    at += (random.uniform() * 400.0) as u64 * US + US;
                    let length = (random.uniform() * 300.0) as u64 * US + US;
                    let pause = [at, length];
                    at += length;
                    pause
                })
                .collect();
            let found = totals(&pauses).windows[0].worst_ps;
            assert_eq!(found, worst_by_trying(&pauses, 1000 * US, at), "seed {seed}: {pauses:?}");
        }
    }

    #[test]
    fn a_summary_by_hand() {
        // 10 and 30 us in 100 ms: one is beyond 20 us, both are within a millisecond, and 40 us of 100 ms are lost.
        let found = totals(&[[500 * US, 10 * US], [600 * US, 30 * US]]).summary(100_000 * US, 0.95);
        assert_eq!((found.count, found.beyond_limit, found.longest_us), (2, 1, 30.0));
        assert!((found.available - (1.0 - 4e-4)).abs() < 1e-12);
        let windows: Vec<(f64, f64)> =
            found.worst_windows.iter().map(|w| (w.length_us, w.lost_us)).collect();
        assert_eq!(windows, [(1e3, 40.0), (1e4, 40.0), (1e5, 40.0)]);
        // Ten stretches of 10 ms, the first of which lost 40 us: the mean share is 0.9996, its error 4e-4, and t is
        // 1.833.
        let bound = found.available_at_least.unwrap();
        assert!((bound - (0.9996 - 1.83311 * 4e-4)).abs() < 1e-7, "{bound}");
    }

    #[test]
    fn time_that_nobody_watched_is_neither_lost_nor_available() {
        // Ten stretches of 10 ms. In each the first 5 ms are unobserved, and 4 or 5 of the other 5 ms are lost: 45 of
        // 50 observed ms are lost. A bound from the whole stretches alone would be near 0.55.
        let mut found = totals(&[]);
        for stretch in 0..10u64 {
            let begin = stretch * 10_000 * US;
            found.add_unobserved(begin, 5000 * US);
            found.add(begin + 5000 * US, (4000 + stretch % 2 * 1000) * US);
        }
        let found = found.summary(100_000 * US, 0.95);
        assert!((found.looked_s - 0.05).abs() < 1e-12 && (found.available - 0.1).abs() < 1e-12);
        // The residuals are 0.5 ms each, so the error is sqrt(10 * 0.25 * 10 / 9) / 50 = 0.033333; t is 1.833.
        let bound = found.available_at_least.unwrap();
        assert!((bound - (0.1 - 1.83311 / 30.0)).abs() < 1e-6, "{bound}");
    }

    #[test]
    fn the_bound_is_below_the_estimate_whatever_is_lost_in_the_last_stretch() {
        // Two whole stretches lose nothing; a third that is not whole loses half.
        let found = totals(&[[20_000 * US, 2000 * US]]).summary(24_000 * US, 0.95);
        assert_eq!(found.available_at_least, Some(found.available));
    }

    #[test]
    fn a_gap_over_several_stretches_counts_in_each() {
        // From 5 to 25 ms: 5 ms of the first stretch, the whole second and 5 ms of the third.
        let mut found = totals(&[]);
        found.add_unobserved(5000 * US, 20_000 * US);
        let parts: Vec<u64> = found.stretches.iter().map(|one| one.unobserved_ps / US).collect();
        assert_eq!(parts, [5000, 10_000, 5000]);
        // At 1 s stretches have been joined to 20 ms: 10 + 5 of them are in the first, 5 in the second.
        found.add_unobserved(1_000_000 * US, 1000 * US);
        let parts: Vec<u64> = found.stretches.iter().map(|one| one.unobserved_ps / US).collect();
        assert_eq!(
            (found.stretch_ps, &parts[..2], parts[50]),
            (20_000 * US, &[15_000, 5000][..], 1000)
        );
    }

    #[test]
    fn hours_take_no_more_room_than_seconds_and_lose_nothing() {
        let mut totals = PauseTotals::new(u64::MAX);
        // 50 us every 20 ms for two hours.
        const PAUSES: u64 = 360_000;
        (0..PAUSES).for_each(|k| totals.add(k * 20_000 * US, 50 * US));
        assert!(totals.stretches.len() <= STRETCHES_MAX);
        let lost_ps: u64 = totals.stretches.iter().map(|one| one.lost_ps).sum();
        assert_eq!(lost_ps, PAUSES * 50 * US);
        assert!(totals.windows.iter().all(|window| window.inside.len() <= 51));
        let found = totals.summary(PAUSES * 20_000 * US, 0.95);
        // 50 of 20 000 us; the stretches differ by at most one pause.
        assert!((found.available - 0.9975).abs() < 1e-9);
        assert!(found.available_at_least.is_some_and(|least| least > 0.9974));
        assert_eq!(found.worst_windows[3].lost_us, 50.0 * 50.0);
    }

    #[test]
    fn words_bring_all_but_what_windows_remember() {
        let mut first = totals(&[[500 * US, 10 * US], [600 * US, 30 * US]]);
        first.add_unobserved(700 * US, 20_000 * US);
        let mut words = first.to_words();
        words.push(7);
        let (back, rest) = PauseTotals::from_words(&words).unwrap();
        assert_eq!(rest, [7]);
        assert_eq!(back.summary(100_000 * US, 0.95), first.summary(100_000 * US, 0.95));
        assert_eq!(PauseTotals::from_words(&words[..9]), None);
        assert_eq!(totals(&[]).summary(0, 0.95).available, 1.0);
    }
}
