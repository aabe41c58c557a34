//! A block from each rank for each rank: the traffic of a corner turn.

use analysis::limits::{BoundRule, Traffic};
use contract::collective::{self, Collective};

use crate::case::each_block_size;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::{Headline, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const ALL_TO_ALL: Benchmark = Benchmark {
    name: "all-to-all",
    group: Group::Collectives,
    summary: "a block from each rank to each rank, as in a corner turn",
    explains: "Each of P ranks sends a separate block to each rank, including itself. All ranks start \
        together; the time is that of the slowest rank; the size is that of one block; the rate is size (P - 1) P \
        / time.",
    ranks: RankRule::AtLeast(2),
    // A rank's own block moves too.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p * p }),
    headlines: &[Headline {
        words: "all-to-all of 64 KiB blocks",
        metric: "time",
        size_bytes: Some(64 << 10),
    }],
    osu: OsuTest::latency("All-to-All Personalized Exchange Latency"),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { send: shape.ranks, receive: shape.ranks, posted: 0 },
        event: |rank, data| match data.algorithm {
            None => rank.all_to_all(&data.send, &mut data.receive),
            one => collective::all_to_all(rank, one, &data.send, &mut data.receive),
        },
        received: Received::Blocks(|shape, block| (block, shape.me)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    algorithms: Collective::AllToAll.algorithms(),
    ..BENCHMARK
};
