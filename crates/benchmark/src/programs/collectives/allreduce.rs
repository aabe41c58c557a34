//! The sum of all ranks' numbers, for every rank.

use analysis::limits::{BoundRule, Traffic};
use contract::Reduction;
use contract::collective::{self, Collective};

use super::each_size_in_numbers;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::{Headline, KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const ALLREDUCE: Benchmark = Benchmark {
    name: "allreduce",
    group: Group::Collectives,
    summary: "sum of double-precision numbers to every rank",
    explains: "Every rank gets the sums of the numbers of all ranks, element by element. All ranks start \
        together; the time is that of the slowest rank; the size is that of one rank's numbers, rounded up to a \
        multiple of 8; the rate is size / time.",
    ranks: RankRule::AtLeast(2),
    // Each operand must be read once, at whichever rank they are combined.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    headlines: &[Headline { words: "allreduce of 8 bytes", metric: "time", size_bytes: Some(8) }],
    key_figures: &[KeyFigure::ShortAllreduce.after(0)],
    osu: OsuTest::reduction("Allreduce Latency"),
    cases: each_size_in_numbers,
    program: Program {
        blocks: |_| Blocks { send: 1, receive: 1, posted: 0 },
        event: |rank, data| {
            let (send, receive) = (&data.send, &mut data.receive);
            match data.algorithm {
                None => rank.allreduce(Reduction::SUM_F64, send, receive),
                one => collective::allreduce(rank, one, Reduction::SUM_F64, send, receive),
            }
        },
        received: Received::SUM,
        ..COLLECTIVE
    },
    algorithms: Collective::Allreduce.algorithms(),
    ..BENCHMARK
};
