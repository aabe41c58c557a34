//! Throughput over time: the effect of a fault or of congestion on a stream, and the time until it recovers.

use analysis::limits::{BoundRule, Traffic};
use contract::{Result, TimeSpan};
use record::Better;

use super::stream::{
    DURATION_S, PARTS, SIZE_MIN, Streams, cases, end_ps, lasts_s, longest_gap, rates,
};
use crate::bench::Bench;
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::options::RunOption;
use crate::paper;
use crate::presentation::Headline;
use crate::programs::common::BENCHMARK;
use crate::ranks::RankRule;

pub(in crate::programs) const STEADY_STREAM: Benchmark = Benchmark {
    name: "steady-stream",
    group: Group::Congestion,
    summary: "the rate over time of half the ranks sending to the other half",
    explains: "Rank r of the lower half sends messages to rank r + P/2 as fast as possible, with eight of them \
        posted, for 0.2 s or until 256 MiB are sent, or for --duration if given. Messages are numbered: one that \
        is lost, duplicated or out of order ends the run. The samples of the rate are those of a hundred equal \
        parts of the time, or as many as have four messages each, in order. The gap is the longest time between two \
        messages of a pair, a sample for each pair; the longest gap is that of all pairs. The recovery is the longest time in which the rate stays below \
        half of what it reaches in a quarter of the time.",
    source: paper::SCALE.part("section 1: congestion and faults of links"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[
        Headline { words: "steady stream, all pairs", metric: "rate", size_bytes: None },
        Headline { words: "steady stream: longest gap", metric: "longest_gap", size_bytes: None },
        Headline {
            words: "steady stream: until the rate is back",
            metric: "recovery",
            size_bytes: None,
        },
    ],
    cases,
    measure,
    repeatable: false,
    lasts_s: Some(lasts_s),
    options: &[&[RunOption::Duration]],
    ..BENCHMARK
};

/// Maximum number of bytes that all pairs send, unless the user sets a time.
const BYTES_MAX: usize = 256 << 20;

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let size = bench.shape.size.max(SIZE_MIN);
    let (pairs, seed) = (bench.shape.ranks / 2, bench.settings.seed);
    let wanted_s = bench.settings.real_time.duration_s;
    let most = if wanted_s.is_some() { usize::MAX } else { (BYTES_MAX / size / pairs).max(PARTS) };
    bench.rank.barrier()?;
    let begin = bench.rank.now();
    let end = begin + TimeSpan::from_s(wanted_s.unwrap_or(DURATION_S));
    let all = Streams { pairs, size, seed, begin }.run(bench.rank, begin..end, most)?;
    if bench.shape.me == 0 { report(bench, &all, size) } else { Ok(()) }
}

fn report(bench: &mut Bench<'_>, arrivals: &[Vec<u64>], size: usize) -> Result<()> {
    let end_ps = end_ps(arrivals)?;
    let rates = rates(arrivals, size, end_ps);
    let us = |ps: u64| ps as f64 / 1e6;
    let recovery_us = slow_parts(&rates) as f64 * us(end_ps) / rates.len() as f64;
    let gaps: Vec<f64> = arrivals.iter().map(|times| us(longest_gap(times))).collect();
    let longest = gaps.iter().copied().fold(0.0, f64::max);
    let timing = record::Timing::of_single_events("none", us(end_ps) / 1e6);
    let subject = bench.subject(Default::default());
    let mut rate = subject.metric(("rate", "MB/s"), rates, timing.clone())?;
    rate.better = Better::Higher;
    let mut all = vec![rate];
    let times = [("gap", gaps), ("longest_gap", vec![longest]), ("recovery", vec![recovery_us])];
    for (name, samples) in times {
        all.push(subject.metric((name, "us"), samples, timing.clone())?);
    }
    bench.emit(Event::Measured(all))
}

/// Returns the largest number of consecutive parts with a rate below half of that which a quarter of the parts reach.
/// If a fault lasts for half of the time, a median would be the rate of the fault.
fn slow_parts(rates: &[f64]) -> usize {
    let mut sorted = rates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted[sorted.len() * 3 / 4] / 2.0;
    rates.split(|&rate| rate >= half).map(<[f64]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_slow_for_longest_is_the_recovery() {
        let mut rates = vec![10.0; 100];
        rates[3..5].fill(4.0);
        rates[40..47].fill(0.0);
        rates[43] = 5.0;
        assert_eq!(slow_parts(&rates), 3);
        assert_eq!(slow_parts(&[10.0; 100]), 0);
        // A fault that lasts for most of the time is still detected.
        rates[20..90].fill(1.0);
        assert_eq!(slow_parts(&rates), 70);
    }
}
