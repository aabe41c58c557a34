//! There and back, and half of it.

use analysis::limits::{BoundRule, Traffic};

use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::{Headline, KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, round_trip};

pub(in crate::programs) const PING_PONG: Benchmark = Benchmark {
    name: "ping-pong",
    group: Group::Latencies,
    summary: "half of a message's round trip between two ranks",
    explains: "Rank 0 sends a message to rank 1, which answers with one of the same size. Rank 0 times the \
        round trip; the time is half of it, the rate is size / time. With more than 2 ranks the others wait; on a \
        one-way ring the round trip is then longer.",
    source: paper::MPI_SHARC.part("section 4.2"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[
        Headline { words: "8 bytes, half a round trip", metric: "time", size_bytes: Some(8) },
        Headline { words: "64 KiB, half a round trip", metric: "time", size_bytes: Some(64 << 10) },
    ],
    key_figures: &[
        KeyFigure::ShortMessage.after(1),
        KeyFigure::RateOneWay.after(1),
        KeyFigure::StraightLine.after(0),
    ],
    osu: OsuTest::latency("Latency"),
    program: Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};
