//! Every rank's block travels around the ring to all others.

use analysis::limits::{BoundRule, Traffic};
use contract::{Error, Rank, Result, Source};

use crate::case::each_block_size;
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE, ITS_TAG, TAG};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const RING_BROADCAST: Benchmark = Benchmark {
    name: "ring-broadcast",
    group: Group::Collectives,
    summary: "N-way broadcast around a ring, by messages between neighbours",
    explains: "Each of P ranks has a message for all others. In each of P - 1 steps every rank sends the block \
        that it received last to the next rank, and receives from the previous rank. All ranks start together; the \
        time is that of the slowest rank; the rate is size (P - 1) P / time.",
    source: paper::HYPERCUBE.part("simple communication, fourth test (N-way broadcast)"),
    ranks: RankRule::AtLeast(2),
    // Each block visits every rank in turn.
    bound: BoundRule::AllRanks(|p| Traffic { hand_overs: p - 1, blocks: p * (p - 1) }),
    cases: each_block_size,
    program: Program {
        blocks: |shape| Blocks { receive: shape.ranks, ..Blocks::NONE },
        event: around_the_ring,
        received: Received::InPlace(|_, block| (block, block)),
        moved: Shape::bytes_all_to_all,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

fn around_the_ring(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let Shape { ranks, me, size, .. } = data.shape;
    let (next, before) = ((me + 1) % ranks, (me + ranks - 1) % ranks);
    let range = |block: usize| block * size..(block + 1) * size;
    for step in 0..ranks - 1 {
        let sent = (me + ranks - step) % ranks;
        let received = (sent + ranks - 1) % ranks;
        let [send, receive] =
            data.receive.get_disjoint_mut([range(sent), range(received)]).map_err(|error| {
                Error::Program(format!("blocks {sent} and {received} of {ranks}: {error}"))
            })?;
        rank.send_receive(next, TAG, send, Source::Rank(before), ITS_TAG, receive)?;
    }
    Ok(())
}
