//! Nobody goes on before all have come.

use analysis::limits::{BoundRule, Traffic};

use crate::catalogue::{Benchmark, Program, RankRule};
use crate::data::{Blocks, Received};
use crate::plan::once;
use crate::programs::{BENCHMARK, COLLECTIVE};

pub(in crate::programs) const BARRIER: Benchmark = Benchmark {
    name: "barrier",
    group: "collectives",
    summary: "a barrier of all ranks",
    explains: "All ranks start together and call a barrier; the time is that of the rank that returns last.",
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|_| Traffic { hand_overs: 1, blocks: 0 }),
    cases: once,
    program: Program {
        blocks: |_| Blocks::NONE,
        event: |rank, _| rank.barrier(),
        received: Received::Nothing,
        moved: |_| 0,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
