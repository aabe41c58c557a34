//! Every rank's block to all others.

use analysis::limits::{BoundRule, Traffic};
use contract::collective::{self, Collective};

use crate::case::each_block_size;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::OsuTest;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const ALLGATHER: Benchmark = Benchmark {
    name: "allgather",
    group: Group::Collectives,
    summary: "allgather, at the rank that ends last",
    explains: "Each of P ranks sends a block to all others, and copies its own. All ranks start together; the \
        time is that of the slowest rank; the size is that of one block; the rate is size (P - 1) P / time.",
    source: paper::MPI_SHARC.part("section 4.4, equation 2"),
    ranks: RankRule::AtLeast(2),
    // A rank's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p * p }),
    osu: OsuTest::latency("Allgather Latency"),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { send: 1, receive: shape.ranks, posted: 0 },
        event: |rank, data| match data.algorithm {
            None => rank.allgather(&data.send, &mut data.receive),
            one => collective::allgather(rank, one, &data.send, &mut data.receive),
        },
        received: Received::Blocks(|_, block| (block, 0)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    algorithms: Collective::Allgather.algorithms(),
    ..BENCHMARK
};
