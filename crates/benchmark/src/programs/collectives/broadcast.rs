//! One rank sends to all others.

use analysis::limits::{BoundRule, Traffic};
use contract::collective::{self, Collective};

use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::{KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const BROADCAST: Benchmark = Benchmark {
    name: "broadcast",
    group: Group::Collectives,
    summary: "broadcast from rank 0, at the rank that ends last",
    explains: "Rank 0 broadcasts a message to the P - 1 others. All ranks start together; the time is that of \
        the slowest rank; the rate is size (P - 1) / time.",
    source: paper::MPI_SHARC.part("section 4.3, equation 1"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    key_figures: &[KeyFigure::ShortBroadcast.after(0)],
    osu: OsuTest::latency("Broadcast Latency"),
    program: Program {
        blocks: |_| Blocks { receive: 1, ..Blocks::NONE },
        event: |rank, data| match data.algorithm {
            None => rank.broadcast(0, &mut data.receive),
            one => collective::broadcast(rank, one, 0, &mut data.receive),
        },
        received: Received::InPlace(|_, _| (0, 0)),
        moved: Shape::bytes_to_others,
        in_a_row: false,
        ..COLLECTIVE
    },
    algorithms: Collective::Broadcast.algorithms(),
    ..BENCHMARK
};
