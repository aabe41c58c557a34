//! Two processors hand one cache line to each other.

use contract::{Rank, Result};

use crate::case::{Case, Scope};
use crate::core_to_core::{put, wait_for};
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::presentation::View;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, NO_DATA};
use crate::ranks::{Placement, RankRule};
use crate::shape::Role;

pub(crate) const HAND_OVER: Benchmark = Benchmark {
    name: "hand-over",
    group: Group::Limits,
    summary: "transfer of one cache line between processors, for each pair",
    explains: "There is a rank on every processor. Two ranks alternately wait for a word of a shared cache \
        line to change, and change it; the others are idle. The first rank times the round trip; the time is half \
        of it. No message can be faster than this. On machines with very many pairs an even selection is measured. \
        In runs with other groups, the first pair is measured again after each group, because a hypervisor may \
        move a processor during the run.",
    ranks: RankRule::EveryProcessor,
    placement: Placement::InOrder,
    view: View::CorePairs,
    cases: pairs,
    program: Program { event: hand_over, parts: |_| 2, ..SHARED_LINE },
    ..BENCHMARK
};

/// The common parts of programs on the shared line.
pub(super) const SHARED_LINE: Program = Program { needs_shared_line: true, ..NO_DATA };

const PAIRS_MAX: usize = 64;

fn pairs(scope: &Scope) -> Vec<Case> {
    let last = scope.ranks;
    let all: Vec<(usize, usize)> =
        (0..last).flat_map(|from| (from + 1..last).map(move |to| (from, to))).collect();
    let stride = all.len().div_ceil(PAIRS_MAX).max(1);
    all.into_iter()
        .step_by(stride)
        .map(|(from, to)| Case {
            parameters: [("from", from), ("to", to)]
                .map(|(name, rank)| (name.into(), (rank as u64).into()))
                .into(),
            size_bytes: 0,
        })
        .collect()
}

/// Makes one event: the word is odd on its way there and even on its way back.
pub(super) fn there_and_back(
    rank: &mut dyn Rank,
    data: &mut Data,
    put: impl FnOnce(&dyn Rank, u64),
    wait_for: impl FnOnce(&mut dyn Rank, u64) -> Result<()>,
) -> Result<()> {
    let there = data.counter + 1;
    let back = data.counter + 2;
    data.counter = back;
    match data.role {
        Role::First => {
            put(rank, there);
            wait_for(rank, back)
        }
        Role::Second => {
            wait_for(rank, there)?;
            put(rank, back);
            Ok(())
        }
        Role::Other => Ok(()),
    }
}

fn hand_over(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    there_and_back(rank, data, put, wait_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(ranks: usize) -> usize {
        pairs(&Scope { ranks, sizes: None, settings: &crate::Settings::default() }).len()
    }

    #[test]
    fn every_pair_once_but_not_too_many() {
        assert_eq!([1, 2, 4, 11].map(count), [0, 1, 6, 55]);
        // 96 * 95 / 2 = 4560 pairs; every 72nd makes 63.3, so 64.
        assert_eq!(count(96), 64);
    }
}
