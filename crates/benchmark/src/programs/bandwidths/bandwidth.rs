//! As many messages in progress as fit, in one direction.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};

use super::window;
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::{Headline, KeyFigure, OsuTest};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG, from_first_to_second};
use crate::shape::Role;

pub(in crate::programs) const BANDWIDTH: Benchmark = Benchmark {
    name: "bandwidth",
    group: Group::Bandwidths,
    summary: "a stream of messages one way, 64 at once",
    explains: "Rank 0 sends 64 messages, as many at once as the fabric can have under way; rank 1 receives \
        them with all receives posted, and answers with an empty message after the last. Rank 0 times from its \
        first call to the answer; the time is a 64th of it, the rate is size / time. There are fewer messages \
        above 4 MiB: 256 MiB in total, but at least 4. The window is that of the OSU test.",
    source: paper::OSU.part("osu_bw"),
    // In a stream the hand-overs of many messages overlap.
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 0, blocks: 1 }),
    headlines: &[Headline { words: "fastest stream one way", metric: "rate", size_bytes: None }],
    key_figures: &[KeyFigure::RateOneWay.after(0)],
    osu: OsuTest::bandwidth("Bandwidth"),
    program: Program {
        blocks: from_first_to_second,
        event: stream,
        parts: |shape| window(shape) as u64,
        ..BETWEEN_TWO
    },
    ..BENCHMARK
};

fn stream(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    let (peer, count) = (data.peer, window(&data.shape));
    match data.role {
        Role::First => {
            rank.send_window(peer, TAG, &data.send, count)?;
            rank.receive(Source::Rank(peer), ITS_TAG, &mut [])?;
        }
        Role::Second => {
            rank.receive_window(Source::Rank(peer), ITS_TAG, &mut data.receive, count)?;
            rank.send(peer, TAG, &[])?;
        }
        Role::Other => {}
    }
    Ok(())
}
