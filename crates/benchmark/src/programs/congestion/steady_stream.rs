//! Throughput over time: what a fault or a jam makes of a stream, and how long until it flows again.

use std::collections::VecDeque;

use analysis::limits::{BoundRule, Traffic};
use contract::record::{self, Better};
use contract::{Buffer, Error, Rank, Result, Source, Tag, Time, TimeSpan};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::presentation::Headline;
use crate::programs::common::{BENCHMARK, TAG};
use crate::ranks::RankRule;

pub(in crate::programs) const STEADY_STREAM: Benchmark = Benchmark {
    name: "steady-stream",
    group: Group::Congestion,
    summary: "the rate over time of half the ranks sending to the other half",
    explains: "Rank r of the lower half sends messages to rank r + P/2 as fast as possible, with eight of them \
        posted, for 0.2 s or until 256 MiB are sent, or for --duration if given. Messages are numbered: one that \
        is lost, duplicated or out of order ends the run. The samples of the rate are those of a hundred equal \
        parts of the time, in order. The gap is the longest time between two messages of a pair, the recovery the \
        longest time in which the rate stays below half its median.",
    source: paper::SCALE.part("section 1: congestion and faults of links"),
    ranks: RankRule::AtLeast(2),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline { words: "steady stream, all pairs", metric: "rate", size_bytes: None }],
    cases,
    measure,
    size_multiple_bytes: 8,
    repeatable: false,
    lasts_s: Some(|settings, _| 2.0 * settings.real_time.duration_s.unwrap_or(DURATION_S)),
    ..BENCHMARK
};

/// The default time of sending.
const DURATION_S: f64 = 0.2;
/// The maximum of bytes that all pairs send, unless the user sets a time.
const BYTES_MAX: usize = 256 << 20;
/// Messages that a sender has posted at a time.
const POSTED: usize = 8;
/// The parts of the time for which rates are given.
const PARTS: usize = 100;
/// A message with nothing in it: no more will come.
const END: Tag = Tag::new(1);

fn cases(scope: &Scope) -> Vec<Case> {
    sized(scope, &[8 << 10])
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let size = bench.shape.size.max(8);
    let (me, pairs, seed) = (bench.shape.me, bench.shape.ranks / 2, bench.settings.seed);
    let wanted_s = bench.settings.real_time.duration_s;
    let most = if wanted_s.is_some() { usize::MAX } else { (BYTES_MAX / size / pairs).max(PARTS) };
    bench.rank.barrier()?;
    let begin = bench.rank.now();
    let end = begin + TimeSpan::from_s(wanted_s.unwrap_or(DURATION_S));
    let mut arrivals = Vec::new();
    if me < pairs {
        send_until(bench.rank, (me + pairs, size), seed, (end, most))?;
    } else if me < 2 * pairs {
        arrivals = receive_all(bench.rank, (me - pairs, size), seed, begin)?;
    }
    let all = gather(bench.rank, &arrivals, pairs)?;
    if me == 0 { report(bench, &all, size) } else { Ok(()) }
}

/// Sends numbered messages until a time or so many, and the end.
fn send_until(
    rank: &mut dyn Rank,
    (to, size): (usize, usize),
    seed: u64,
    (end, most): (Time, usize),
) -> Result<()> {
    let mut block = Buffer::try_zeroed(size)?;
    fill(&mut block, seed, rank.rank(), 0);
    let mut free = vec![block.clone(); POSTED - 1];
    free.push(block);
    let mut posted = VecDeque::new();
    for number in 0..most as u64 {
        if rank.now() >= end {
            break;
        }
        let mut message = match free.pop() {
            Some(message) => message,
            None => {
                let oldest = posted.pop_front().expect("what is not free is posted");
                rank.wait(oldest)?.buffer
            }
        };
        message[..8].copy_from_slice(&number.to_le_bytes());
        posted.push_back(rank.post_send(to, TAG, message)?);
    }
    for one in posted {
        rank.wait(one)?;
    }
    rank.send(to, END, &[])
}

/// Receives numbered messages until the end; the time of each since `begin`, in picoseconds.
fn receive_all(
    rank: &mut dyn Rank,
    (from, size): (usize, usize),
    seed: u64,
    begin: Time,
) -> Result<Vec<u64>> {
    let mut arrivals = Vec::new();
    let mut block = vec![0; size];
    loop {
        let status = rank.receive(Source::Rank(from), contract::TagSelector::Any, &mut block)?;
        if status.tag == END {
            break;
        }
        let expected = arrivals.len() as u64;
        let number = u64::from_le_bytes(block[..8].try_into().expect("eight bytes"));
        if number != expected || status.bytes != size {
            let me = rank.rank();
            let what = format!(
                "rank {me} got message {number} of {} bytes from rank {from} where message {expected} of {size} was due",
                status.bytes
            );
            return Err(Error::Program(what));
        }
        arrivals.push(rank.now().since(begin).as_ps());
    }
    let mut sent = vec![0; size];
    fill(&mut sent, seed, from, 0);
    block[..8].copy_from_slice(&sent[..8]);
    check_block(&block, seed, (from, 0), "the last message", rank.rank())?;
    Ok(arrivals)
}

/// Brings the times of all receivers to rank 0.
fn gather(rank: &mut dyn Rank, mine: &[u64], pairs: usize) -> Result<Vec<Vec<u64>>> {
    let me = rank.rank();
    let bytes: Vec<u8> = mine.iter().flat_map(|time| time.to_le_bytes()).collect();
    if me >= pairs && me < 2 * pairs {
        rank.send(0, TAG, &(bytes.len() as u64).to_le_bytes())?;
        rank.send(0, TAG, &bytes)?;
    }
    let mut all = Vec::new();
    for from in (pairs..2 * pairs).filter(|_| me == 0) {
        let mut length = [0; 8];
        rank.receive(Source::Rank(from), TAG.into(), &mut length)?;
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        rank.receive(Source::Rank(from), TAG.into(), &mut bytes)?;
        let (words, _) = bytes.as_chunks();
        all.push(words.iter().map(|word| u64::from_le_bytes(*word)).collect());
    }
    Ok(all)
}

fn report(bench: &mut Bench<'_>, arrivals: &[Vec<u64>], size: usize) -> Result<()> {
    let end_ps = arrivals.iter().flatten().copied().max().unwrap_or(0);
    if end_ps == 0 {
        return Err(Error::Program("no message came in the time of the stream".into()));
    }
    let rates = rates(arrivals, size, end_ps);
    let us = |ps: u64| ps as f64 / 1e6;
    let recovery_us = slow_parts(&rates) as f64 * us(end_ps) / PARTS as f64;
    let gaps = arrivals.iter().map(|times| us(longest_gap(times))).collect();
    let timing = record::Timing::of_single_events("none", us(end_ps) / 1e6);
    let subject = bench.subject(Default::default());
    let mut rate = subject.metric(("rate", "MB/s"), rates, timing.clone())?;
    rate.better = Better::Higher;
    let gap = subject.metric(("gap", "us"), gaps, timing.clone())?;
    let recovery = subject.metric(("recovery", "us"), vec![recovery_us], timing)?;
    bench.tell(Event::Measured(vec![rate, gap, recovery]))
}

/// The rate of all pairs together in each part of the time, in MB/s.
fn rates(arrivals: &[Vec<u64>], size: usize, end_ps: u64) -> Vec<f64> {
    let mut counts = [0u64; PARTS];
    for &time in arrivals.iter().flatten() {
        let part = (u128::from(time) * PARTS as u128 / u128::from(end_ps)) as usize;
        counts[part.min(PARTS - 1)] += 1;
    }
    let part_us = end_ps as f64 / 1e6 / PARTS as f64;
    counts.iter().map(|&count| count as f64 * size as f64 / part_us).collect()
}

/// The most parts in a row whose rate is below half the median.
fn slow_parts(rates: &[f64]) -> usize {
    let mut sorted = rates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted[sorted.len() / 2] / 2.0;
    rates.split(|&rate| rate >= half).map(<[f64]>::len).max().unwrap_or(0)
}

/// The longest time between two arrivals, or before the first.
fn longest_gap(times: &[u64]) -> u64 {
    let before = std::iter::once(&0).chain(times);
    times.iter().zip(before).map(|(time, before)| time - before).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_equal_parts_of_the_time() {
        // 100 parts of 1 us: ten messages of 8 bytes in the first, one in the last.
        let times = [vec![500_000; 10], vec![100_000_000]];
        let found = rates(&times, 8, 100_000_000);
        assert_eq!((found[0], found[1], found[99]), (80.0, 0.0, 8.0));
    }

    #[test]
    fn what_is_slow_for_longest_is_the_recovery() {
        let mut rates = vec![10.0; 100];
        rates[3..5].fill(4.0);
        rates[40..47].fill(0.0);
        rates[43] = 5.0;
        assert_eq!(slow_parts(&rates), 3);
        assert_eq!(slow_parts(&[10.0; 100]), 0);
        assert_eq!(longest_gap(&[5, 6, 20, 21]), 14);
        assert_eq!(longest_gap(&[]), 0);
    }
}
