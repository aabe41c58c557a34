//! The sum of all ranks' numbers, for every rank.

use analysis::limits::{BoundRule, Traffic};
use contract::Reduction;

use super::{NUMBER_BYTES, each_size_in_numbers};
use crate::catalogue::{Benchmark, Program, RankRule};
use crate::data::{Blocks, Received};
use crate::programs::{BENCHMARK, COLLECTIVE};

pub(in crate::programs) const ALLREDUCE: Benchmark = Benchmark {
    name: "allreduce",
    group: "collectives",
    summary: "sum of double-precision numbers to every rank",
    explains: "Every rank gets the sums of the numbers of all ranks, element by element. All start together; the time is \
        that of the slowest; the size is that of one rank's numbers, rounded up to a multiple of 8; the rate is \
        size / time.",
    ranks: RankRule::AtLeast(2),
    size_multiple_bytes: NUMBER_BYTES,
    // Somebody must read each operand once, whoever combines them.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    cases: each_size_in_numbers,
    program: Program {
        blocks: |_| Blocks { send: 1, receive: 1, posted: 0 },
        event: |rank, data| rank.allreduce(Reduction::SUM_F64, &data.send, &mut data.receive),
        received: Received::Sum,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
