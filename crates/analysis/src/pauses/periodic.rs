//! Periodic pauses: moments at a fixed distance, with gaps.

use crate::constants::KINDS;
use crate::statistics::at_most;

/// Moments `first_s` + k `period_s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PeriodicPauses {
    first_s: f64,
    pub(super) period_s: f64,
    /// 90th percentile of the distance of its members from their moments.
    pub(super) jitter_s: f64,
}

/// Returns periods that `times` may have: the most frequent intervals between them, the most frequent first.
pub(super) fn candidates(times: &[f64]) -> Vec<f64> {
    let mut intervals: Vec<f64> = (1..=KINDS.reach)
        .flat_map(|reach| times.windows(reach + 1).map(move |window| window[reach] - window[0]))
        .filter(|interval| *interval > 0.0)
        .collect();
    intervals.sort_by(f64::total_cmp);
    let mut groups: Vec<(usize, f64)> = Vec::new();
    let mut rest = &intervals[..];
    while let Some(&least) = rest.first() {
        let count = rest.partition_point(|interval| *interval <= least * (1.0 + KINDS.tolerance));
        groups.push((count, rest[count / 2]));
        rest = &rest[count..];
    }
    groups.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
    groups.truncate(KINDS.most);
    groups.into_iter().map(|(_, interval)| interval).collect()
}

impl PeriodicPauses {
    /// Returns the periodic pauses of about `period_s` through most of `times`. The period is known only to a few per
    /// cent, which add up to a whole period after some tens of moments. It is therefore fitted to a short stretch first,
    /// then to longer and longer ones.
    pub(super) fn fit(times: &[f64], period_s: f64) -> Option<PeriodicPauses> {
        let (first, last) = (*times.first()?, *times.last()?);
        // The first moment that another follows at the right distance.
        let begin = times.iter().position(|&time| {
            times
                .iter()
                .any(|&next| (next - time - period_s).abs() < KINDS.tolerance * period_s / 2.0)
        })?;
        let mut periodic = PeriodicPauses { first_s: times[begin], period_s, jitter_s: 0.0 };
        let mut stretch = 4.0 * period_s;
        while periodic.first_s + stretch / 2.0 < last.max(first + stretch) {
            periodic = periodic.through(times, stretch)?;
            if stretch > 2.0 * (last - first) {
                break;
            }
            stretch *= 2.0;
        }
        Some(periodic)
    }

    /// Fits a straight line through the members within `stretch` of the beginning, by least squares.
    fn through(self, times: &[f64], stretch: f64) -> Option<PeriodicPauses> {
        let near = |time: &&f64| (**time - self.first_s).abs() <= stretch && self.has(**time);
        let members: Vec<(f64, f64)> =
            times.iter().filter(near).map(|&time| (self.index(time), time)).collect();
        let n = members.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| members.iter().map(of).sum::<f64>() / n;
        let (index, time) = (mean(|m| m.0), mean(|m| m.1));
        let spread: f64 = members.iter().map(|m| (m.0 - index).powi(2)).sum();
        if spread == 0.0 {
            return None;
        }
        let slope = members.iter().map(|m| (m.0 - index) * (m.1 - time)).sum::<f64>() / spread;
        // Tooth number 0 stays number 0.
        let fitted =
            PeriodicPauses { first_s: time - slope * index, period_s: slope, jitter_s: 0.0 };
        let mut off: Vec<f64> = members.iter().map(|m| fitted.off(m.1).abs()).collect();
        off.sort_by(f64::total_cmp);
        let jitter_s = off[(off.len() * 9 / 10).min(off.len() - 1)];
        (slope > 0.0).then_some(PeriodicPauses { jitter_s, ..fitted })
    }

    fn index(&self, time: f64) -> f64 {
        ((time - self.first_s) / self.period_s).round()
    }

    fn off(&self, time: f64) -> f64 {
        time - self.first_s - self.index(time) * self.period_s
    }

    /// Returns the first moment that is not before the beginning.
    pub(super) fn first_moment_s(&self) -> f64 {
        self.first_s.rem_euclid(self.period_s)
    }

    /// Returns whether a time is at one of its moments.
    pub(super) fn has(&self, time: f64) -> bool {
        self.off(time).abs() <= KINDS.tolerance * self.period_s
    }

    /// Returns whether the members fill most of its moments over a time, and more of them than `pauses` at random
    /// moments would. A random pause fills a moment with a probability that follows from the tolerance.
    pub(super) fn is_filled(&self, members: usize, pauses: usize, duration_s: f64) -> bool {
        let moments = (duration_s / self.period_s).floor().max(members as f64);
        let density = pauses as f64 / duration_s;
        let chance = -(-density * 2.0 * KINDS.tolerance * self.period_s).exp_m1();
        let share = members as f64 / moments;
        // This number or more moments with a pause is the same as the remaining number or fewer without.
        let without = moments as u64 - members as u64;
        share >= KINDS.filled
            && share > chance
            && at_most(without, moments as u64, 1.0 - chance) < KINDS.chance_max
    }
}
