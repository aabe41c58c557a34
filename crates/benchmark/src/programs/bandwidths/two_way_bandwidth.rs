//! As many messages in progress as fit, in both directions at once.

use analysis::limits::{BoundRule, Traffic};
use contract::{Posted, Rank, Result, Source};

use super::{WINDOW, window};
use crate::data::{Blocks, Data};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::{Headline, KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG};
use crate::shape::{Role, Shape};

pub(in crate::programs) const TWO_WAY_BANDWIDTH: Benchmark = Benchmark {
    name: "two-way-bandwidth",
    group: Group::Bandwidths,
    summary: "streams of messages both ways at once",
    explains: "Ranks 0 and 1 each send 64 messages to the other, with posted sends and receives: 64 of each \
        under way at once, or as many as fit into 4 MiB, but at least 2; then each confirms the last message. Rank \
        0 times from its first call to that; the time is a 64th of it, the rate is 2 size / time. There are fewer \
        messages above 4 MiB, as in bandwidth. The OSU test has 64 under way at every size, all in one buffer.",
    source: paper::OSU.part("osu_bibw"),
    // In a stream the hand-overs of many messages overlap.
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 0, blocks: 2 }),
    headlines: &[Headline { words: "fastest streams both ways", metric: "rate", size_bytes: None }],
    key_figures: &[KeyFigure::RateBothWays.after(0)],
    osu: OsuTest::bandwidth("Bi-Directional Bandwidth"),
    program: Program {
        blocks: |shape| match shape.role() {
            Role::Other => Blocks::NONE,
            _ => Blocks { posted: under_way(shape), ..Blocks::NONE },
        },
        event: streams,
        parts: |shape| window(shape) as u64,
        moved: |shape| 2 * shape.size as u64,
        ..BETWEEN_TWO
    },
    ..BENCHMARK
};

/// Maximum number of bytes in progress. Each posted message owns its buffer, so at large sizes 64 of them would fill
/// the memory rather than the wire.
const UNDER_WAY_BYTES: usize = 4 << 20;

fn under_way(shape: &Shape) -> usize {
    (UNDER_WAY_BYTES / shape.size.max(1)).clamp(2, WINDOW)
}

fn streams(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    if data.role == Role::Other {
        return Ok(());
    }
    let (peer, from_peer) = (data.peer, Source::Rank(data.peer));
    for _ in 0..window(&data.shape) {
        if data.incoming.is_empty() {
            complete_oldest(rank, data)?;
        }
        if let (Some(incoming), Some(outgoing)) =
            (data.incoming.pop_front(), data.outgoing.pop_front())
        {
            let receive = rank.post_receive(from_peer, ITS_TAG, incoming)?;
            let send = rank.post_send(peer, TAG, outgoing)?;
            data.posted.push_back((receive, send));
        }
    }
    while !data.posted.is_empty() {
        complete_oldest(rank, data)?;
    }
    rank.send_receive((peer, TAG, &[]), (from_peer, ITS_TAG, &mut []))?;
    Ok(())
}

fn complete_oldest(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    if let Some((receive, send)) = data.posted.pop_front() {
        let mut wait = |posted: Posted| Ok(rank.wait(posted)?.buffer);
        data.incoming.push_back(wait(receive)?);
        data.outgoing.push_back(wait(send)?);
    }
    Ok(())
}
