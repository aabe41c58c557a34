//! What was lost, by kind, and what would follow if a kind were gone.

use contract::record::{Pause, PauseKind};

use super::recording::{Lost, Recording};
use crate::pauses::sort;

/// The longest of so many are sorted into kinds.
const SORTED_MAX: usize = 4096;

/// One kind of lost time.
#[derive(Clone, Debug, PartialEq)]
pub struct LostKind {
    /// When it comes and how long it is.
    pub kind: PauseKind,
    /// What share of the recording it took.
    pub share: f64,
    /// The recording as it would be without it.
    pub without: Recording,
}

/// The kinds of time that a recording lost, the one that took most first.
pub fn lost_kinds(recording: &Recording) -> Vec<LostKind> {
    let mut lost = recording.lost();
    lost.sort_by(|a, b| b.length_us.total_cmp(&a.length_us));
    lost.truncate(SORTED_MAX);
    lost.sort_by_key(|one| one.at_us.to_bits());
    let pauses: Vec<Pause> =
        lost.iter().map(|one| Pause { at_s: one.at_us / 1e6, length_us: one.length_us }).collect();
    let sorted = sort(&pauses, recording.length_us() / 1e6);
    let of_kind = |(place, kind): (usize, &PauseKind)| {
        let members: Vec<Lost> = lost
            .iter()
            .zip(&sorted.kind_of)
            .filter(|(_, of)| **of == place)
            .map(|(one, _)| *one)
            .collect();
        LostKind {
            kind: kind.clone(),
            share: members.iter().map(|one| one.length_us).sum::<f64>() / recording.length_us(),
            without: recording.without(&members),
        }
    };
    let mut kinds: Vec<LostKind> = sorted.kinds.iter().enumerate().map(of_kind).collect();
    kinds.sort_by(|a, b| b.share.total_cmp(&a.share));
    kinds
}
