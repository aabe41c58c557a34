//! Puts whose target waits for a notice.

use analysis::limits::{BoundRule, Traffic};
use contract::Result;
use record::Parameters;

use super::latencies::PUT;
use super::opened::Opened;
use crate::bench::Bench;
use crate::data::{Blocks, Received};
use crate::declaration::Benchmark;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::BETWEEN_TWO;
use crate::shape::Role;

pub(in crate::programs) const NOTIFIED_PUT: Benchmark = Benchmark {
    name: "notified-put",
    summary: "half of a round trip by puts with notification of the other rank",
    explains: "Rank 0 puts a block into the memory of rank 1 and notifies it; rank 1 waits for the notice, and \
        does the same in the opposite direction. Rank 0 times from its call to the returning notice; the time is \
        half of it, the rate is size / time. ping-pong does the same with messages.",
    source: None,
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline {
        words: "notified put of 8 bytes",
        metric: "time",
        size_bytes: Some(8),
    }],
    measure: round_trips,
    program: Program {
        blocks: |shape| match shape.role() {
            Role::Other => Blocks::NONE,
            _ => Blocks { send: 1, ..Blocks::NONE },
        },
        received: Received::Nothing,
        parts: |_| 2,
        ..BETWEEN_TWO
    },
    ..PUT
};

/// Number of the notice.
const NOTICE: usize = 0;

fn round_trips(bench: &mut Bench<'_>) -> Result<()> {
    let program = bench.definition.program;
    let mut opened = Opened::new(bench, bench.shape.size)?;
    let outcome = bench.sampled_as(program, |rank, data| {
        opened.events += 1;
        let (window, peer, events) = (&mut opened.window, data.peer, opened.events);
        match data.role {
            Role::First => {
                window.put(rank, peer, 0, &data.send)?;
                window.notify(rank, peer, NOTICE)?;
                window.await_notice(rank, NOTICE, events)
            }
            Role::Second => {
                window.await_notice(rank, NOTICE, events)?;
                window.put(rank, peer, 0, &data.send)?;
                window.notify(rank, peer, NOTICE)
            }
            Role::Other => Ok(()),
        }
    })?;
    opened.window.fence(bench.rank)?;
    if bench.shape.role() != Role::Other {
        opened.check(bench, 0, (bench.shape.peer(), 0))?;
    }
    opened.close(bench)?;
    bench.report(program, outcome, Parameters::new())
}
