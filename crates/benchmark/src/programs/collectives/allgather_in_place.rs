//! Every rank's block to all others, from its final place.

use analysis::limits::{BoundRule, Traffic};

use crate::case::each_block_size;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const ALLGATHER_IN_PLACE: Benchmark = Benchmark {
    name: "allgather-in-place",
    group: Group::Collectives,
    summary: "allgather in place, at the rank that ends last",
    explains: "As allgather, but each rank's own block is already in place, so it is not copied. All ranks \
        start together; the time is that of the slowest rank; the size is that of one block; the rate is size (P - \
        1) P / time.",
    source: paper::MPI_SHARC.part("section 4.4, equation 2"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p * (p - 1) }),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { receive: shape.ranks, ..Blocks::NONE },
        event: |rank, data| rank.allgather_in_place(&mut data.receive),
        received: Received::InPlace(|_, block| (block, block)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
