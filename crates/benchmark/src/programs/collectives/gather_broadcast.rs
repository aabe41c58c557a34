//! Every rank's block to all others, by way of one.

use contract::collective::{self, Algorithm};
use contract::{Rank, Result};

use super::allgather::ALLGATHER;
use crate::case::sized;
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::BENCHMARK;

pub(in crate::programs) const GATHER_BROADCAST: Benchmark = Benchmark {
    name: "gather-broadcast",
    group: Group::Collectives,
    summary: "allgather through rank 0, for comparison with the fabric's own",
    explains: "Rank 0 gathers a block from each rank, one after the other, and broadcasts all of them along a \
        binomial tree, like libraries without a separate allgather. All ranks start together; the time is that of \
        the slowest rank; the size is that of one block; the rate is size (P - 1) P / time.",
    source: paper::MPI_SHARC.part("section 4.4, equation 2"),
    ranks: ALLGATHER.ranks,
    bound: ALLGATHER.bound,
    cases: |scope| sized(scope, &[8, 1 << 10, 16 << 10]),
    program: Program { event: by_way_of_one, ..ALLGATHER.program },
    ..BENCHMARK
};

fn by_way_of_one(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let (gathered, tree) = (Some(Algorithm::Linear), Some(Algorithm::Binomial));
    collective::gather(rank, gathered, 0, &data.send, &mut data.receive)?;
    collective::broadcast(rank, tree, 0, &mut data.receive)
}
