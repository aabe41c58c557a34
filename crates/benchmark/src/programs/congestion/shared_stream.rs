//! Throughput over time around congestion: a stream, and others that share its route for some time.

use contract::{Result, TimeSpan};
use record::Better;

use super::stream::{DURATION_S, SIZE_MIN, Streams, cases, end_ps, lasts_s, longest_gap, rates};
use crate::bench::Bench;
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::options::RunOption;
use crate::paper;
use crate::presentation::Headline;
use crate::programs::common::BENCHMARK;
use crate::ranks::RankRule;

pub(in crate::programs) const SHARED_STREAM: Benchmark = Benchmark {
    name: "shared-stream",
    group: Group::Congestion,
    summary: "the rate over time of one pair, while others send as well in the middle third",
    explains: "As steady-stream, but only rank 0 sends to rank P/2 all the time, 0.2 s or --duration. The other ranks of \
        the lower half send to theirs in the middle third of it. The samples of the rate are those of the first pair \
        in a hundred equal parts of the time, or as many as have four messages each, in order; `others` has those of the other pairs together. The gap is \
        the longest time between two messages of the first pair. Fewer than four ranks have no other pair.",
    source: paper::SCALE.part("section 1: congestion and faults of links"),
    ranks: RankRule::AtLeast(2),
    headlines: &[Headline { words: "shared stream: longest gap", metric: "gap", size_bytes: None }],
    cases,
    measure,
    repeatable: false,
    lasts_s: Some(lasts_s),
    options: &[&[RunOption::Duration]],
    ..BENCHMARK
};

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let size = bench.shape.size.max(SIZE_MIN);
    let (pairs, seed) = (bench.shape.ranks / 2, bench.settings.seed);
    let duration = TimeSpan::from_s(bench.settings.real_time.duration_s.unwrap_or(DURATION_S));
    let third = TimeSpan::from_ps(duration.as_ps() / 3);
    bench.rank.barrier()?;
    let begin = bench.rank.now();
    let sends = match bench.shape.me {
        0 => begin..begin + duration,
        _ => begin + third..begin + third + third,
    };
    let all = Streams { pairs, size, seed, begin }.run(bench.rank, sends, usize::MAX)?;
    if bench.shape.me == 0 { report(bench, &all, size) } else { Ok(()) }
}

fn report(bench: &mut Bench<'_>, arrivals: &[Vec<u64>], size: usize) -> Result<()> {
    let end_ps = end_ps(arrivals)?;
    let (first, others) = arrivals.split_at(1);
    let timing = record::Timing::of_single_events("none", end_ps as f64 / 1e12);
    let subject = bench.subject(Default::default());
    let mut all = Vec::new();
    for (name, pairs) in [("rate", first), ("others", others)] {
        if pairs.is_empty() {
            continue;
        }
        let mut rate =
            subject.metric((name, "MB/s"), rates(pairs, size, end_ps), timing.clone())?;
        rate.better = Better::Higher;
        all.push(rate);
    }
    let gap_us = longest_gap(&first[0]) as f64 / 1e6;
    all.push(subject.metric(("gap", "us"), vec![gap_us], timing)?);
    bench.emit(Event::Measured(all))
}
