//! A block for each rank, from one rank.

use analysis::limits::{BoundRule, Traffic};
use contract::collective::{self, Collective};

use crate::case::each_block_size;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::OsuTest;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const SCATTER: Benchmark = Benchmark {
    name: "scatter",
    group: Group::Collectives,
    summary: "a block from rank 0 to each rank",
    explains: "Rank 0 sends a separate block to each of P ranks, including itself. All ranks start together; \
        the time is that of the slowest rank; the size is that of one block; the rate is size (P - 1) / time.",
    ranks: RankRule::AtLeast(2),
    // The root's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p }),
    osu: OsuTest::latency("Scatter Latency"),
    cases: each_block_size,
    program: Program {
        blocks: |shape| {
            let send = if shape.me == 0 { shape.ranks } else { 0 };
            Blocks { send, receive: 1, posted: 0 }
        },
        event: |rank, data| match data.algorithm {
            None => rank.scatter(0, &data.send, &mut data.receive),
            one => collective::scatter(rank, one, 0, &data.send, &mut data.receive),
        },
        received: Received::Blocks(|shape, _| (0, shape.me)),
        moved: Shape::bytes_to_others,
        in_a_row: false,
        ..COLLECTIVE
    },
    algorithms: Collective::Scatter.algorithms(),
    ..BENCHMARK
};
