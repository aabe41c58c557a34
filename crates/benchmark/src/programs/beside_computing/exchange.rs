//! Two ranks exchange messages while both compute.

use analysis::limits::{BoundRule, Traffic};
use contract::{Buffer, Rank, Result, Source, TimeSpan};
use record::Better;

use super::computing::{BESIDE_COMPUTING, median_for_all, operations_in};
use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::contents::{check_block, fill};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::paper;
use crate::presentation::Headline;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, ITS_TAG, TAG, compute};
use crate::shape::Role;

pub(in crate::programs) const OVERLAP: Benchmark = Benchmark {
    name: "overlap",
    group: Group::BesideComputing,
    summary: "an exchange beside computing of the same length: the hidden share",
    explains: "Two ranks post a receive and a send, compute as long as the exchange takes alone, and wait for \
        both. The overlap is 1 - (time - computing) / exchange in percent, 0 if nothing is hidden and 100 if all \
        of it is; the time is that of the slower rank. Other ranks send nothing meanwhile.",
    source: paper::OSU.part("overlap of non-blocking operations"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 2 }),
    headlines: &[Headline {
        words: "most of an exchange hidden",
        metric: "overlap",
        size_bytes: None,
    }],
    cases,
    measure: |bench| measure(bench, 1.0),
    program: Program { timing: Timing::SlowerOfPair, ..BESIDE_COMPUTING },
    repeatable: false,
    ..BENCHMARK
};

pub(in crate::programs) const PROGRESS: Benchmark = Benchmark {
    name: "progress",
    summary: "an exchange beside long computing without calls: the share that progresses",
    explains: "As overlap, but both ranks compute four times as long as the exchange takes alone, without \
        calls meanwhile. The result is 100 if the exchange has ended when they wait, and 0 if it only begins then.",
    source: None,
    headlines: &[Headline {
        words: "most of an exchange without calls",
        metric: "overlap",
        size_bytes: None,
    }],
    measure: |bench| measure(bench, 4.0),
    ..OVERLAP
};

fn cases(scope: &Scope) -> Vec<Case> {
    sized(scope, &[1 << 10, 16 << 10, 256 << 10, 4 << 20])
}

/// Blocks of a rank that are in progress: its own, and the buffer for the other's.
struct Pair {
    send: Option<Buffer>,
    room: Option<Buffer>,
}

impl Pair {
    /// Posts both messages, computes, and waits for both.
    fn exchange(&mut self, rank: &mut dyn Rank, peer: usize, operations: u64) -> Result<()> {
        let (Some(send), Some(room)) = (self.send.take(), self.room.take()) else { return Ok(()) };
        let receiving = rank.post_receive(Source::Rank(peer), ITS_TAG, room)?;
        let sending = rank.post_send(peer, TAG, send)?;
        if operations > 0 {
            compute(rank, operations);
        }
        self.room = Some(rank.wait(receiving)?.buffer);
        self.send = Some(rank.wait(sending)?.buffer);
        Ok(())
    }
}

/// Measures the exchange alone, computing for `times` as long, and both together.
fn measure(bench: &mut Bench<'_>, times: f64) -> Result<()> {
    let (program, me, size) = (bench.definition.program, bench.shape.me, bench.shape.size);
    let (seed, peer) = (bench.settings.seed, bench.shape.peer());
    let takes_part = bench.shape.role() != Role::Other;
    let mut blocks = Pair { send: None, room: None };
    if takes_part {
        let mut send = Buffer::try_zeroed(size)?;
        fill(&mut send, seed, me, 0);
        blocks = Pair { send: Some(send), room: Some(Buffer::try_zeroed(size)?) };
    }
    let alone = bench.sampled_as(program, |rank, _| blocks.exchange(rank, peer, 0))?;
    let alone = median_for_all(bench.rank, alone.as_ref())?;
    let wanted = TimeSpan::from_s(alone.as_s() * times);
    let Some(operations) = operations_in(bench.rank, wanted)? else {
        return bench.skip("the machine does not say how fast it computes".into());
    };
    let computing = bench.sampled_as(program, |rank, _| {
        compute(rank, operations);
        Ok(())
    })?;
    let both = bench.sampled_as(program, |rank, _| blocks.exchange(rank, peer, operations))?;
    if let Some(room) = &blocks.room {
        check_block(room, seed, (peer, 0), "the last block", me)?;
    }
    let (Some(both), Some(computing)) = (both, computing) else { return Ok(()) };
    let computing_us = computing.median_ps() / 1e6;
    let subject = bench.subject(Default::default());
    let time = subject.time(1, &both)?;
    let hidden = |&us: &f64| hidden_percent(us, computing_us, alone.as_us());
    let samples = time.samples.iter().map(hidden).collect();
    let mut overlap = subject.metric(("overlap", "%"), samples, time.timing.clone())?;
    overlap.better = Better::Higher;
    bench.emit(Event::Measured(vec![time, overlap]))
}

/// Returns the share of an exchange that is hidden if it and the computing take `us` together.
fn hidden_percent(us: f64, computing_us: f64, alone_us: f64) -> f64 {
    100.0 * (1.0 - (us - computing_us) / alone_us).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_no_time_is_hidden() {
        let cases = [(100.0, 100.0), (110.0, 75.0), (140.0, 0.0), (150.0, 0.0), (99.0, 100.0)];
        for (us, percent) in cases {
            assert_eq!(hidden_percent(us, 100.0, 40.0), percent);
        }
    }
}
