//! One rank sends to all others.

use super::broadcast::BROADCAST;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::KeyFigure;
use crate::programs::common::BENCHMARK;

pub(in crate::programs) const NODE_BROADCAST: Benchmark = Benchmark {
    name: "node-broadcast",
    group: Group::Collectives,
    summary: "broadcast from one node, for comparison with the ring",
    explains: "Rank 0 broadcasts a message to the P - 1 others by the fabric's own broadcast. All ranks start \
        together; the time is that of the slowest rank; the rate is size (P - 1) / time.",
    source: paper::HYPERCUBE.part("simple communication, fifth test (single node broadcast)"),
    ranks: BROADCAST.ranks,
    bound: BROADCAST.bound,
    key_figures: &[KeyFigure::ShortBroadcast.after(1)],
    program: BROADCAST.program,
    ..BENCHMARK
};
