//! Two processors hand one cache line to each other.

use std::sync::atomic::{AtomicU64, Ordering};

use contract::{Rank, Result, Source};

use crate::catalogue::{Benchmark, Program, RankRule};
use crate::data::{Blocks, Data, Received, Role};
use crate::plan::{Case, Scope};
use crate::programs::{BENCHMARK, BETWEEN_TWO, ITS_TAG};

pub(crate) const HAND_OVER: Benchmark = Benchmark {
    name: "hand-over",
    group: "limits",
    summary: "handing one cache line from processor to processor, for each pair",
    explains: "With a rank on every processor, two ranks wait in turn for a word of a shared cache line to change and \
        change it; the others wait out of the way. The first times there and back; the time is half of it. No message \
        can be faster than this. On machines with very many pairs an even choice of them is measured. Beside other groups \
        the first pair is measured again after each of them, for a hypervisor may move a processor in mid-run.",
    ranks: RankRule::EveryProcessor,
    cases: pairs,
    program: Program { event: hand_over, parts: |_| 2, ..SHARED_LINE },
    ..BENCHMARK
};

/// What programs on the shared line have in common.
pub(super) const SHARED_LINE: Program = Program {
    blocks: |_| Blocks::NONE,
    received: Received::Nothing,
    moved: |_| 0,
    needs_shared_line: true,
    ..BETWEEN_TWO
};

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

/// One event: the word is odd on its way there and even on its way back.
pub(super) fn there_and_back(
    rank: &mut dyn Rank,
    data: &mut Data,
    put: impl FnOnce(&dyn Rank, u64),
    wait_for: impl FnOnce(&mut dyn Rank, u64) -> Result<()>,
) -> Result<()> {
    let there = data.turn + 1;
    let back = data.turn + 2;
    data.turn = back;
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

/// Between looks whether the run goes on; many hand-overs long, and soon over.
const LOADS: usize = 1 << 16;

pub(crate) fn put(rank: &dyn Rank, value: u64) {
    if let Some(line) = rank.shared_line() {
        // Release, with the Acquire of the other's wait.
        line.word(0).store(value, Ordering::Release);
    }
}

/// Pauses between looks. Without it the processor has many loads of the line under way when the other takes it, and has
/// to undo them all: two cores of a Zen 5 then took 54 ns instead of 30 to 45, and a floor that high would
/// flatter every message.
pub(crate) fn wait_for(rank: &mut dyn Rank, value: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        let word = line.word(0);
        // Acquire, with the Release of the other's put.
        if (0..LOADS).any(|_| is_there(word, value)) {
            break;
        }
        // A look for messages fails if the other rank is dead.
        rank.probe(Source::Any, ITS_TAG)?;
    }
    Ok(())
}

fn is_there(word: &AtomicU64, value: u64) -> bool {
    let found = word.load(Ordering::Acquire) == value;
    if !found {
        std::hint::spin_loop();
    }
    found
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
