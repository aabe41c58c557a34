//! One rank tells all others.

use crate::catalogue::Benchmark;
use crate::programs::BENCHMARK;
use crate::programs::sharc::broadcast::BROADCAST;

pub(in crate::programs) const NODE_BROADCAST: Benchmark = Benchmark {
    name: "node-broadcast",
    group: "cube",
    summary: "broadcast from one node, to set beside the ring",
    explains: "Rank 0 broadcasts a message to the P - 1 others by the fabric's own broadcast. All start together; the \
        time is that of the slowest; the rate is size (P - 1) / time. Source: hypercube benchmarks (1986), simple \
        communication, fifth test (single node broadcast).",
    ranks: BROADCAST.ranks,
    bound: BROADCAST.bound,
    program: BROADCAST.program,
    ..BENCHMARK
};
