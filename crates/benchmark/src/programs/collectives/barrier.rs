//! No rank continues before all have arrived.

use analysis::limits::{BoundRule, Traffic};
use contract::collective::{self, Collective};

use crate::case::once;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::{Headline, KeyFigure, OsuColumns, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const BARRIER: Benchmark = Benchmark {
    name: "barrier",
    group: Group::Collectives,
    summary: "a barrier of all ranks",
    explains: "All ranks start together and call a barrier; the time is that of the rank that returns last.",
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|_| Traffic { hand_overs: 1, blocks: 0 }),
    headlines: &[Headline { words: "barrier", metric: "time", size_bytes: Some(0) }],
    key_figures: &[KeyFigure::Barrier.after(0)],
    osu: Some(OsuTest {
        title: "Barrier Latency",
        columns: OsuColumns::LatencyAlone,
        datatype: None,
    }),
    cases: once,
    program: Program {
        blocks: |_| Blocks::NONE,
        event: |rank, data| match data.algorithm {
            None => rank.barrier(),
            one => collective::barrier(rank, one),
        },
        received: Received::Nothing,
        moved: |_| 0,
        ..COLLECTIVE
    },
    algorithms: Collective::Barrier.algorithms(),
    ..BENCHMARK
};
