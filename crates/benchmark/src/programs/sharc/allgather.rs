//! Every rank's block to all others.

use analysis::limits::{BoundRule, Traffic};

use crate::catalogue::{Benchmark, Program, RankRule};
use crate::data::{Blocks, Received, Shape};
use crate::plan::each_block_size;
use crate::programs::{BENCHMARK, COLLECTIVE};

pub(in crate::programs) const ALLGATHER: Benchmark = Benchmark {
    name: "allgather",
    group: "sharc",
    summary: "allgather, at the rank that ends last",
    explains: "Each of P ranks gives a block to all others, and copies its own. All start together; the time is that of \
        the slowest; the size is that of one block; the rate is size (P - 1) P / time. Source: MPI-SHARC (2002), section \
        4.4, equation 2.",
    ranks: RankRule::AtLeast(2),
    // A rank's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p * p }),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { send: 1, receive: shape.ranks, posted: 0 },
        event: |rank, data| rank.allgather(&data.send, &mut data.receive),
        received: Received::Blocks(|_, block| (block, 0)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
