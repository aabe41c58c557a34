//! A message and its answer, as in a remote procedure call.

use analysis::limits::{BoundRule, Traffic};

use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, round_trip};

pub(in crate::programs) const SEND_AND_REPLY: Benchmark = Benchmark {
    name: "send-and-reply",
    group: Group::Latencies,
    summary: "a message and its answer, as in a remote procedure call",
    explains: "Rank 0 sends a message, rank 1 answers with one of the same size; rank 0 times from its call to the \
        answer. The rate is 2 size / time.",
    source: paper::HYPERCUBE.part("simple communication, second test"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 2, blocks: 2 }),
    program: Program { event: round_trip, moved: |shape| 2 * shape.size as u64, ..BETWEEN_TWO },
    ..BENCHMARK
};
