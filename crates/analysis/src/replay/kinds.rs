//! Lost time by kind, and the recording without a kind.

use record::{Pause, PauseKind};

use super::recording::{Lost, Recording};
use crate::constants::{KINDS, REPLAY};
use crate::pauses::sort;

/// One kind of lost time.
#[derive(Clone, Debug, PartialEq)]
pub struct LostKind {
    /// Period and length of the kind.
    pub kind: PauseKind,
    /// Share of the recording that it lost.
    pub share: f64,
    /// The recording as it would be without it.
    pub without: Recording,
}

/// Returns the kinds of time that a recording lost, the one with the largest share first.
pub fn lost_kinds(recording: &Recording) -> Vec<LostKind> {
    let mut lost = recording.lost();
    lost.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
    lost.truncate(REPLAY.sorted_max);
    lost.sort_by_key(|one| one.at_us.to_bits());
    let pauses: Vec<Pause> =
        lost.iter().map(|one| Pause { at_s: one.at_us / 1e6, length_us: one.length_us }).collect();
    let sorted = sort(&pauses, recording.length_us() / 1e6);
    // Processors that pause alike at different moments result in several kinds with the same description.
    let mut together: Vec<(PauseKind, Vec<usize>)> = Vec::new();
    for (place, kind) in sorted.kinds.iter().enumerate() {
        match together.iter_mut().find(|(other, _)| are_alike(other, kind)) {
            Some((other, places)) => {
                other.count += kind.count;
                other.length_min_us = other.length_min_us.min(kind.length_min_us);
                other.length_max_us = other.length_max_us.max(kind.length_max_us);
                places.push(place);
            }
            None => together.push((kind.clone(), vec![place])),
        }
    }
    let of_kind = |(kind, places): (PauseKind, Vec<usize>)| {
        let is_of = |of: &usize| places.contains(of);
        let members: Vec<Lost> = lost
            .iter()
            .zip(&sorted.kind_of)
            .filter(|(_, of)| is_of(of))
            .map(|(one, _)| *one)
            .collect();
        LostKind {
            kind,
            share: members.iter().map(|one| one.length_us).sum::<f64>() / recording.length_us(),
            without: recording.without(&members),
        }
    };
    let mut kinds: Vec<LostKind> = together.into_iter().map(of_kind).collect();
    kinds.sort_by(|a, b| b.share.total_cmp(&a.share));
    kinds
}

/// Returns whether two kinds have the same description: regular ones with the same period and about the same length.
/// Others differ by the decade of their lengths.
fn are_alike(one: &PauseKind, other: &PauseKind) -> bool {
    one.regular
        && other.regular
        && one.agrees(other, 1.0 + REPLAY.periods_differ_by, KINDS.lengths_differ_by)
}
