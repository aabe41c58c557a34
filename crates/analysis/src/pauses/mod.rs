//! Pauses of a processor, sorted into recurring kinds with their period and length, and irregular ones.
//!
//! A kind is periodic: moments a + k p, most of which have a pause of about the same length. Kinds are found one after
//! the other, the densest first (the timer tick, then pauses once a second). Pauses that belong to none are irregular,
//! and are sorted by the decade of their length.

mod cause;
mod periodic;
mod totals;

use record::{Pause, PauseKind};

use crate::constants::KINDS;
pub use cause::{Explanation, explain, explained};
use periodic::PeriodicPauses;
pub use totals::PauseTotals;

/// Pauses, each with its kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted {
    /// Kinds: periodic ones by rising period, then those without a period by length, a decade of microseconds each.
    pub kinds: Vec<PauseKind>,
    /// Index of the kind of each pause, in the order of the pauses.
    pub kind_of: Vec<usize>,
}

/// Returns the kinds of `pauses`, which are in the order in which they occurred over `duration_s`.
pub fn classify(pauses: &[Pause], duration_s: f64) -> Vec<PauseKind> {
    sort(pauses, duration_s).kinds
}

/// Sorts `pauses`, in the order in which they occurred over `duration_s`, into kinds.
pub fn sort(pauses: &[Pause], duration_s: f64) -> Sorted {
    let mut left: Vec<usize> = (0..pauses.len()).collect();
    let mut found: Vec<(PauseKind, Vec<usize>)> = Vec::new();
    while found.len() < KINDS.most && left.len() >= KINDS.members_min {
        let Some((periodic, members)) = densest(pauses, &left, duration_s) else { break };
        left.retain(|index| members.binary_search(index).is_err());
        found.push((regular(pauses, &members, &periodic), members));
    }
    found.sort_by(|a, b| a.0.period_us.total_cmp(&b.0.period_us));
    found.extend(irregular(pauses, &left, duration_s));
    let mut sorted = Sorted { kinds: Vec::new(), kind_of: vec![0; pauses.len()] };
    for (place, (kind, members)) in found.into_iter().enumerate() {
        members.iter().for_each(|&index| sorted.kind_of[index] = place);
        sorted.kinds.push(kind);
    }
    sorted
}

/// Returns the period with the most members among those through all pauses that are `left`, and those through the pauses
/// of about one length. A pause every half second is lost among ten thousand short ones, but visible among the long
/// ones.
fn densest(
    pauses: &[Pause],
    left: &[usize],
    duration_s: f64,
) -> Option<(PeriodicPauses, Vec<usize>)> {
    let all = std::iter::once(left.to_vec());
    let bands = all.chain(bands(pauses, left)).filter(|band| band.len() >= KINDS.members_min);
    let candidates = bands.flat_map(|band| {
        let times: Vec<f64> = band.iter().map(|&index| pauses[index].at_s).collect();
        let fit = |period_s| {
            let periodic = PeriodicPauses::fit(&times, period_s)?;
            let members = of_one_length(pauses, &band, &periodic);
            let enough = members.len() >= KINDS.members_min
                && periodic.is_filled(members.len(), band.len(), duration_s);
            enough.then_some((periodic, members))
        };
        periodic::candidates(&times).into_iter().filter_map(fit).collect::<Vec<_>>()
    });
    candidates.max_by_key(|(_, members)| members.len())
}

/// Returns the pauses by length: bands of a factor of four, each overlapping half of the next.
fn bands(pauses: &[Pause], left: &[usize]) -> Vec<Vec<usize>> {
    let octave = |index: &usize| pauses[*index].length_us.log2().floor() as i32;
    let mut octaves: Vec<i32> = left.iter().map(octave).collect();
    octaves.sort_unstable();
    octaves.dedup();
    let band = |low: &i32| {
        left.iter().copied().filter(|index| (*low..=low + 1).contains(&octave(index))).collect()
    };
    octaves.iter().map(band).collect()
}

/// Returns the pauses at the period's moments with about the length of most of them.
fn of_one_length(pauses: &[Pause], band: &[usize], periodic: &PeriodicPauses) -> Vec<usize> {
    let on = || band.iter().copied().filter(|&index| periodic.has(pauses[index].at_s));
    let median = median(on().map(|index| pauses[index].length_us));
    let alike = |index: &usize| {
        let length_us = pauses[*index].length_us;
        length_us <= KINDS.lengths_differ_by * median
            && median <= KINDS.lengths_differ_by * length_us
    };
    on().filter(alike).collect()
}

fn regular(pauses: &[Pause], members: &[usize], periodic: &PeriodicPauses) -> PauseKind {
    PauseKind {
        regular: true,
        first_s: periodic.first_moment_s(),
        period_jitter_us: periodic.jitter_s * 1e6,
        ..described(pauses, members, periodic.period_s * 1e6)
    }
}

/// Returns pauses that fit no period, by the decade of the length, because a few long ones differ from many short ones.
fn irregular(pauses: &[Pause], left: &[usize], duration_s: f64) -> Vec<(PauseKind, Vec<usize>)> {
    let mut decades: std::collections::BTreeMap<i32, Vec<usize>> = Default::default();
    for &index in left {
        let decade = pauses[index].length_us.log10().floor() as i32;
        decades.entry(decade).or_default().push(index);
    }
    let kind = |members: Vec<usize>| {
        let mean_us = 1e6 * duration_s / members.len() as f64;
        (described(pauses, &members, mean_us), members)
    };
    decades.into_values().map(kind).collect()
}

fn described(pauses: &[Pause], members: &[usize], period_us: f64) -> PauseKind {
    let lengths = || members.iter().map(|&index| pauses[index].length_us);
    PauseKind {
        regular: false,
        first_s: members.first().map_or(0.0, |&index| pauses[index].at_s),
        period_us,
        period_jitter_us: 0.0,
        count: members.len() as u64,
        length_median_us: median(lengths()),
        length_min_us: lengths().fold(f64::INFINITY, f64::min),
        length_max_us: lengths().fold(0.0, f64::max),
    }
}

/// Returns the middle value of an odd number, the upper of the two middle ones of an even number; 0 of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
