//! Half a round trip, under the name that libraries are compared by.

use analysis::limits::{BoundRule, Traffic};

use crate::catalogue::{Benchmark, Program};
use crate::programs::{BENCHMARK, BETWEEN_TWO, round_trip};

pub(in crate::programs) const LATENCY: Benchmark = Benchmark {
    name: "latency",
    group: "streams",
    summary: "half of a round trip, as the OSU micro-benchmarks define it",
    explains: "Rank 0 sends a message to rank 1, which answers with one of the same size; the time is half of rank 0's \
        round trip. The same as ping-pong, except that the OSU micro-benchmarks (osu_latency) average over thousands of \
        round trips in a row: each is timed here, and the median given.",
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    program: Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};
