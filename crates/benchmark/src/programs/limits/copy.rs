//! One processor copies memory.

use contract::{Rank, Result, Work, WorkKind};

use crate::case::{Case, Scope, sized};
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::RankRule;

pub(in crate::programs) const COPY: Benchmark = Benchmark {
    name: "copy",
    group: Group::Limits,
    summary: "copy bandwidth of one processor, in and out of its caches",
    explains: "One rank repeatedly copies a block of memory to another block, and times each copy. The rate is \
        size / time: bytes copied, not bytes read and written. The rate over the size has steps where both blocks \
        together no longer fit into a cache. The rate of one core is the limit of every transport that copies data \
        once.",
    ranks: RankRule::Exactly(1),
    cases: copy_sizes,
    measure: |bench| match bench.skips_without_rate(&[WorkKind::CopyBytes])? {
        true => Ok(()),
        false => bench.timed(),
    },
    program: Program {
        blocks: |_| Blocks { send: 1, receive: 1, posted: 0 },
        event: copy,
        // A simulated machine may let the time of a copy pass without copying.
        received: Received::Nothing,
        ..BETWEEN_TWO
    },
    ..BENCHMARK
};

const SIZES: [u64; 9] =
    [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

fn copy_sizes(scope: &Scope) -> Vec<Case> {
    sized(scope, &SIZES).into_iter().filter(|case| case.size_bytes > 0).collect()
}

fn copy(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let work = Work::new(WorkKind::CopyBytes, data.send.len() as u64);
    rank.compute(work, &mut || data.receive.copy_from_slice(&data.send));
    Ok(())
}
