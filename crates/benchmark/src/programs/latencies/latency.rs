//! Half a round trip, under the name by which libraries are compared.

use analysis::limits::{BoundRule, Traffic};

use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::{KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, round_trip};

pub(in crate::programs) const LATENCY: Benchmark = Benchmark {
    name: "latency",
    group: Group::Latencies,
    summary: "half of a round trip, as the OSU micro-benchmarks define it",
    explains: "Rank 0 sends a message to rank 1, which answers with one of the same size; the time is half of \
        rank 0's round trip. It is the same as ping-pong. The OSU test averages over thousands of successive round \
        trips; here each is timed, and the median is reported.",
    source: paper::OSU.part("osu_latency"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    key_figures: &[KeyFigure::ShortMessage.after(0), KeyFigure::StraightLine.after(1)],
    osu: OsuTest::latency("Latency"),
    program: Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO },
    ..BENCHMARK
};
