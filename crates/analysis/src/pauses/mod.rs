//! Pauses of a processor, sorted into kinds: what comes again and again, how often, how long; and what is left.
//!
//! A kind is a comb: moments a + k p, of which most have a pause of about the same length. Combs are found one after the
//! other, the densest first (the timer tick, then what comes once a second); what belongs to none is rare or irregular.

mod comb;

use contract::record::{Pause, PauseKind};

use comb::Comb;

/// Fewer pauses than this are no kind: three make two intervals, which may be equal by chance.
const MEMBERS_MIN: usize = 5;
/// More kinds than this are noise taken for kinds.
const KINDS_MAX: usize = 6;
/// Lengths of one kind lie within this factor of their median, either way.
const LENGTH_FACTOR: f64 = 1.6;

/// Sorts `pauses`, in the order in which they came over `duration_s`, into kinds: periodic ones by rising period, then
/// at most one without a period.
pub fn classify(pauses: &[Pause], duration_s: f64) -> Vec<PauseKind> {
    let mut left = pauses.to_vec();
    let mut kinds = Vec::new();
    while kinds.len() < KINDS_MAX && left.len() >= MEMBERS_MIN {
        let Some((kind, others)) = densest(&left, duration_s) else { break };
        kinds.push(kind);
        left = others;
    }
    kinds.sort_by(|a, b| a.period_us.total_cmp(&b.period_us));
    kinds.extend(irregular(&left, duration_s));
    kinds
}

/// The comb with the most members, and what does not belong to it.
fn densest(pauses: &[Pause], duration_s: f64) -> Option<(PauseKind, Vec<Pause>)> {
    let times: Vec<f64> = pauses.iter().map(|pause| pause.at_s).collect();
    let combs = comb::candidates(&times).into_iter().filter_map(|period_s| {
        let comb = Comb::fit(&times, period_s)?;
        let members = of_one_length(pauses, &comb);
        let enough =
            members.len() >= MEMBERS_MIN && comb.is_filled(members.len(), pauses.len(), duration_s);
        enough.then_some((comb, members))
    });
    let (comb, members) = combs.max_by_key(|(_, members)| members.len())?;
    let kind = describe(&members, comb.period_s * 1e6, comb.jitter_s * 1e6);
    let others = pauses.iter().filter(|pause| !members.contains(pause)).cloned().collect();
    Some((kind, others))
}

/// The pauses at the comb's teeth whose length is about that of most of them.
fn of_one_length(pauses: &[Pause], comb: &Comb) -> Vec<Pause> {
    let on: Vec<&Pause> = pauses.iter().filter(|pause| comb.has(pause.at_s)).collect();
    let median = median(on.iter().map(|pause| pause.length_us));
    let alike = |pause: &&&Pause| {
        pause.length_us <= LENGTH_FACTOR * median && median <= LENGTH_FACTOR * pause.length_us
    };
    on.iter().filter(alike).map(|pause| (*pause).clone()).collect()
}

fn irregular(pauses: &[Pause], duration_s: f64) -> Option<PauseKind> {
    let mean_us = 1e6 * duration_s / pauses.len().max(1) as f64;
    (!pauses.is_empty()).then(|| PauseKind { regular: false, ..describe(pauses, mean_us, 0.0) })
}

fn describe(members: &[Pause], period_us: f64, period_jitter_us: f64) -> PauseKind {
    let lengths = || members.iter().map(|pause| pause.length_us);
    PauseKind {
        regular: true,
        period_us,
        period_jitter_us,
        count: members.len() as u64,
        length_median_us: median(lengths()),
        length_min_us: lengths().fold(f64::INFINITY, f64::min),
        length_max_us: lengths().fold(0.0, f64::max),
    }
}

/// The middle one of an odd number, the upper of the two middle ones of an even one; 0 of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
