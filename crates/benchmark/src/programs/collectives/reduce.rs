//! The sum of all ranks' numbers, for one rank.

use analysis::limits::{BoundRule, Traffic};
use contract::Reduction;
use contract::collective::{self, Collective};

use super::each_size_in_numbers;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::{KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const REDUCE: Benchmark = Benchmark {
    name: "reduce",
    group: Group::Collectives,
    summary: "sum of double-precision numbers to rank 0",
    explains: "Rank 0 gets the sums of the numbers of all ranks, element by element. All ranks start together; \
        the time is that of the slowest rank; the size is that of one rank's numbers, rounded up to a multiple of \
        8; the rate is size / time.",
    ranks: RankRule::AtLeast(2),
    // Each operand must be read once, at whichever rank they are combined.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    key_figures: &[KeyFigure::ShortAllreduce.after(1)],
    osu: OsuTest::reduction("Reduce Latency"),
    cases: each_size_in_numbers,
    program: Program {
        blocks: |shape| Blocks { send: 1, receive: (shape.me == 0).into(), posted: 0 },
        event: |rank, data| {
            let (send, receive) = (&data.send, &mut data.receive);
            match data.algorithm {
                None => rank.reduce(0, Reduction::SUM_F64, send, receive),
                one => collective::reduce(rank, one, 0, Reduction::SUM_F64, send, receive),
            }
        },
        received: Received::SUM,
        in_a_row: false,
        ..COLLECTIVE
    },
    algorithms: Collective::Reduce.algorithms(),
    ..BENCHMARK
};
