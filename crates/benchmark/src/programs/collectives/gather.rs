//! A block of each rank, for one rank.

use analysis::limits::{BoundRule, Traffic};

use crate::catalogue::{Benchmark, Program, RankRule};
use crate::data::{Blocks, Received, Shape};
use crate::plan::each_block_size;
use crate::programs::{BENCHMARK, COLLECTIVE};

pub(in crate::programs) const GATHER: Benchmark = Benchmark {
    name: "gather",
    group: "collectives",
    summary: "a block from each rank to rank 0",
    explains: "Each of P ranks, rank 0 too, gives rank 0 a block. All start together; the time is that of the slowest; \
        the size is that of one block; the rate is size (P - 1) / time.",
    ranks: RankRule::AtLeast(2),
    // The root's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p }),
    cases: each_block_size,
    program: Program {
        blocks: |shape| {
            let receive = if shape.me == 0 { shape.ranks } else { 0 };
            Blocks { send: 1, receive, posted: 0 }
        },
        event: |rank, data| rank.gather(0, &data.send, &mut data.receive),
        received: Received::Blocks(|_, block| (block, 0)),
        moved: Shape::bytes_to_others,
        in_a_row: false,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
