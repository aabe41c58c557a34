//! The halo of a ring: every rank sends a block to each of its two neighbours, by puts and by messages.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};
use record::Parameters;

use super::opened::Opened;
use crate::bench::Bench;
use crate::case::each_block_size;
use crate::data::{Blocks, Data, Received};
use crate::declaration::{Benchmark, Group};
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, COLLECTIVE, ITS_TAG, TAG};
use crate::ranks::RankRule;
use crate::shape::Shape;

pub(in crate::programs) const HALO_MESSAGES: Benchmark = Benchmark {
    name: "halo-messages",
    group: Group::Windows,
    summary: "every rank exchanges a block with both neighbours in a ring, by messages",
    explains: "Every rank sends a block to the next rank while it receives one from the previous rank, and \
        then in the opposite direction. The time is that of the slowest rank, from a synchronised start to its \
        last return; the rate is the two blocks that a rank receives, divided by the time. halo-put does the same \
        with puts.",
    ranks: RankRule::AtLeast(2),
    cases: each_block_size,
    bound: BoundRule::AllRanks(|ranks| Traffic { hand_overs: 1, blocks: 2 * ranks }),
    headlines: &[Headline {
        words: "halo of 1 KiB by messages",
        metric: "time",
        size_bytes: Some(1024),
    }],
    program: Program {
        blocks: |_| Blocks { send: 2, receive: 2, posted: 0 },
        event: exchange,
        received: Received::Blocks(|shape, block| (neighbours(shape)[block], block)),
        moved: |shape| 2 * shape.size as u64,
        ..COLLECTIVE
    },
    ..BENCHMARK
};

pub(in crate::programs) const HALO_PUT: Benchmark = Benchmark {
    name: "halo-put",
    summary: "every rank puts a block into the memory of both neighbours in a ring",
    explains: "Every rank puts a block into the memory of the next rank and of the previous rank, each with a \
        notice, and waits for the notices of both. Two halves of the memory are used alternately, as in a program \
        that computes meanwhile. The time is that of the slowest rank, from a synchronised start to its last \
        return; the rate is the two blocks that a rank receives, divided by the time. halo-messages does the same \
        with messages.",
    headlines: &[Headline {
        words: "halo of 1 KiB by puts",
        metric: "time",
        size_bytes: Some(1024),
    }],
    measure: puts,
    program: Program {
        blocks: |_| Blocks { send: 2, ..Blocks::NONE },
        received: Received::Nothing,
        ..HALO_MESSAGES.program
    },
    ..HALO_MESSAGES
};

/// Returns the rank before this one, from which it receives block 0 and notice 0, and the one after it, from which it
/// receives block 1 and notice 1.
fn neighbours(shape: &Shape) -> [usize; 2] {
    [(shape.me + shape.ranks - 1) % shape.ranks, (shape.me + 1) % shape.ranks]
}

fn exchange(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let [before, after] = neighbours(&data.shape);
    let size = data.shape.size;
    let (up, down) = data.send.split_at(size);
    let (from_before, from_after) = data.receive.split_at_mut(size);
    rank.send_receive((after, TAG, up), (Source::Rank(before), ITS_TAG, from_before))?;
    rank.send_receive((before, TAG, down), (Source::Rank(after), ITS_TAG, from_after))?;
    Ok(())
}

/// Returns the offset of the blocks of an event, in one half of the memory or in the other.
fn half(events: u64, size: usize) -> usize {
    (events % 2) as usize * 2 * size
}

fn puts(bench: &mut Bench<'_>) -> Result<()> {
    let (program, size) = (bench.definition.program, bench.shape.size);
    let [before, after] = neighbours(&bench.shape);
    let mut opened = Opened::new(bench, 4 * size)?;
    let outcome = bench.sampled_as(program, |rank, data| {
        opened.events += 1;
        let (window, events) = (&mut opened.window, opened.events);
        let (at, (up, down)) = (half(events, size) as u64, data.send.split_at(size));
        window.put(rank, after, at, up)?;
        window.notify(rank, after, 0)?;
        window.put(rank, before, at + size as u64, down)?;
        window.notify(rank, before, 1)?;
        window.await_notice(rank, 0, events)?;
        window.await_notice(rank, 1, events)
    })?;
    opened.window.fence(bench.rank)?;
    let at = half(opened.events, size);
    opened.check(bench, at, (before, 0))?;
    opened.check(bench, at + size, (after, 1))?;
    opened.close(bench)?;
    bench.report(program, outcome, Parameters::new())
}
