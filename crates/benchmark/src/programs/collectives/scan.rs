//! The sums of the numbers of all ranks up to each rank, and of all ranks before it.

use analysis::limits::{BoundRule, Traffic};
use contract::Reduction;
use contract::collective::{self, Collective};

use super::each_size_in_numbers;
use crate::data::{Addends, Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;

pub(in crate::programs) const SCAN: Benchmark = Benchmark {
    name: "scan",
    summary: "sum of double-precision numbers of the ranks up to each rank",
    explains: "Each rank gets the sums of the numbers of the ranks up to it, element by element. All ranks start \
        together; the time is that of the slowest rank; the size is that of one rank's numbers, rounded up to a \
        multiple of 8; the rate is size / time.",
    headlines: &[Headline { words: "scan of 8 bytes", metric: "time", size_bytes: Some(8) }],
    program: Program {
        event: |rank, data| {
            let (send, receive) = (&data.send, &mut data.receive);
            match data.algorithm {
                None => rank.scan(Reduction::SUM_F64, send, receive),
                one => collective::scan(rank, one, false, Reduction::SUM_F64, send, receive),
            }
        },
        received: Received::Sum(|shape| Addends { ranks: shape.me + 1, first: 0 }),
        ..EITHER.program
    },
    algorithms: Collective::InclusiveScan.algorithms(),
    ..EITHER
};

pub(in crate::programs) const EXCLUSIVE_SCAN: Benchmark = Benchmark {
    name: "exclusive-scan",
    summary: "sum of double-precision numbers of the ranks before each rank",
    explains: "Each rank but the first gets the sums of the numbers of the ranks before it, element by element. All \
        ranks start together; the time is that of the slowest rank; the size is that of one rank's numbers, rounded \
        up to a multiple of 8; the rate is size / time.",
    program: Program {
        event: |rank, data| {
            let (send, receive) = (&data.send, &mut data.receive);
            match data.algorithm {
                None => rank.exclusive_scan(Reduction::SUM_F64, send, receive),
                one => collective::scan(rank, one, true, Reduction::SUM_F64, send, receive),
            }
        },
        received: Received::Sum(|shape| Addends { ranks: shape.me, first: 0 }),
        ..EITHER.program
    },
    algorithms: Collective::ExclusiveScan.algorithms(),
    ..EITHER
};

/// Common parts of both scans.
const EITHER: Benchmark = Benchmark {
    group: Group::Collectives,
    ranks: RankRule::AtLeast(2),
    // The last rank's result depends on the operands of all others, at whichever ranks they are combined.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    cases: each_size_in_numbers,
    program: Program {
        blocks: |_| Blocks { send: 1, receive: 1, posted: 0 },
        in_a_row: false,
        ..COLLECTIVE
    },
    ..BENCHMARK
};
