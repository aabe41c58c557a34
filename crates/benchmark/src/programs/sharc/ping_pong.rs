//! There and back, and half of it.

use analysis::limits::{BoundRule, Traffic};

use crate::catalogue::{Benchmark, Program};
use crate::programs::{BENCHMARK, BETWEEN_TWO, round_trip};

pub(in crate::programs) const PING_PONG: Benchmark = Benchmark {
    name: "ping-pong",
    group: "sharc",
    summary: "half of a message's round trip between two ranks",
    explains: "Rank 0 sends a message to rank 1, which answers with one of the same size. Rank 0 times the round trip; \
        the time is half of it, the rate is size / time. With more than 2 ranks the others wait; on a ring in one \
        direction the way there and back is then longer. Source: MPI-SHARC (2002), section 4.2.",
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    program: Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};
