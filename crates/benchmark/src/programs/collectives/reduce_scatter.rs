//! The sum of all ranks' numbers, divided into a block for each rank.

use analysis::limits::{BoundRule, Traffic};
use contract::Reduction;
use contract::collective::{self, Collective};

use super::{NUMBER_BYTES, each_block_size_in_numbers};
use crate::data::{Addends, Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const REDUCE_SCATTER: Benchmark = Benchmark {
    name: "reduce-scatter",
    group: Group::Collectives,
    summary: "sum of double-precision numbers, a block of it to each rank",
    explains: "Each of P ranks has P blocks of numbers, and gets the sums of the blocks of its number, element by \
        element. All ranks start together; the time is that of the slowest rank; the size is that of one block, \
        rounded up to a multiple of 8; the rate is size / time.",
    ranks: RankRule::AtLeast(2),
    // Each rank must read its block of every other rank.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p * (p - 1) }),
    headlines: &[Headline {
        words: "reduce-scatter of 64 KiB blocks",
        metric: "time",
        size_bytes: Some(64 << 10),
    }],
    cases: each_block_size_in_numbers,
    program: Program {
        blocks: |shape| Blocks { send: shape.ranks, receive: 1, posted: 0 },
        event: |rank, data| {
            let (send, receive) = (&data.send, &mut data.receive);
            match data.algorithm {
                None => rank.reduce_scatter(Reduction::SUM_F64, send, receive),
                one => collective::reduce_scatter(rank, one, Reduction::SUM_F64, send, receive),
            }
        },
        received: Received::Sum(|shape| Addends {
            ranks: shape.ranks,
            first: shape.me * shape.size / NUMBER_BYTES as usize,
        }),
        ..COLLECTIVE
    },
    algorithms: Collective::ReduceScatter.algorithms(),
    ..BENCHMARK
};
