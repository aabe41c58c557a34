//! One rank sends to all others, one after the other.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};

use super::broadcast::BROADCAST;
use crate::case::sized;
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, ITS_TAG, TAG};

pub(in crate::programs) const UNICAST_BROADCAST: Benchmark = Benchmark {
    name: "unicast-broadcast",
    group: Group::Collectives,
    summary: "broadcast as a message to each rank in turn, for comparison",
    explains: "Rank 0 sends the same message to ranks 1 to P - 1, one after the other. All ranks start \
        together; the time is that of the slowest rank; the rate is size (P - 1) / time.",
    source: paper::MPI_SHARC.part("section 4.3, figure 8b (multi-unicast broadcast)"),
    ranks: BROADCAST.ranks,
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: 1, blocks: p - 1 }),
    cases: |scope| sized(scope, &[8, 1 << 10, 16 << 10]),
    program: Program {
        blocks: |shape| match shape.me {
            0 => Blocks { send: 1, ..Blocks::NONE },
            _ => Blocks { receive: 1, ..Blocks::NONE },
        },
        event: send_each,
        received: Received::Blocks(|_, _| (0, 0)),
        ..BROADCAST.program
    },
    ..BENCHMARK
};

fn send_each(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    if rank.rank() > 0 {
        return rank.receive(Source::Rank(0), ITS_TAG, &mut data.receive).map(drop);
    }
    (1..rank.size()).try_for_each(|to| rank.send(to, TAG, &data.send))
}
