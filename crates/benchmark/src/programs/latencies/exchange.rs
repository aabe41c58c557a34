//! Two ranks swap their data.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};

use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::KeyFigure;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG};
use crate::shape::Role;

pub(in crate::programs) const EXCHANGE: Benchmark = Benchmark {
    name: "exchange",
    group: Group::Latencies,
    summary: "two ranks exchange messages of the same size",
    explains: "Ranks 0 and 1 start together, and each sends to the other and receives at the same time; the \
        time is that of the slower rank; other ranks send nothing meanwhile. The rate is 2 size / time; compared with simple-transfer it shows whether \
        both directions work at the same time.",
    source: paper::HYPERCUBE.part("simple communication, third test"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 2 }),
    key_figures: &[KeyFigure::RateBothWays.after(1)],
    program: Program {
        timing: Timing::SlowerOfPair,
        event: exchange,
        moved: |shape| 2 * shape.size as u64,
        ..BETWEEN_TWO
    },
    ..BENCHMARK
};

fn exchange(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    if data.role == Role::Other {
        return Ok(());
    }
    let peer = data.peer;
    rank.send_receive((peer, TAG, &data.send), (Source::Rank(peer), ITS_TAG, &mut data.receive))?;
    Ok(())
}
