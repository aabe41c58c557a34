//! A block of each rank, for one rank.

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

pub(in crate::programs) const GATHER: Benchmark = Benchmark {
    name: "gather",
    group: Group::Collectives,
    summary: "a block from each rank to rank 0",
    explains: "Each of P ranks, including rank 0, sends a block to rank 0. All ranks start together; the time \
        is that of the slowest rank; the size is that of one block; the rate is size (P - 1) / time.",
    ranks: RankRule::AtLeast(2),
    // The root's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p }),
    osu: OsuTest::latency("Gather Latency"),
    cases: each_block_size,
    program: Program {
        blocks: |shape| {
            let receive = if shape.me == 0 { shape.ranks } else { 0 };
            Blocks { send: 1, receive, posted: 0 }
        },
        event: |rank, data| match data.algorithm {
            None => rank.gather(0, &data.send, &mut data.receive),
            one => collective::gather(rank, one, 0, &data.send, &mut data.receive),
        },
        received: Received::Blocks(|_, block| (block, 0)),
        moved: Shape::bytes_to_others,
        in_a_row: false,
        ..COLLECTIVE
    },
    algorithms: Collective::Gather.algorithms(),
    ..BENCHMARK
};
