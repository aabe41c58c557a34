//! As many requests in progress as fit, in one direction.

use ::services::Error;
use analysis::limits::{BoundRule, Traffic};
use contract::Result;

use super::partner::{Partner, STORE};
use crate::bench::Bench;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::bandwidths::window;
use crate::programs::common::{BENCHMARK, OWN_DATA};
use crate::shape::Role;

/// Number of buffers from which long data are sent in turn.
const BUFFERS: u64 = 4;

pub(in crate::programs) const ACTIVE_STREAM: Benchmark = Benchmark {
    name: "active-stream",
    group: Group::Services,
    summary: "a one-way stream of 64 active messages",
    explains: "Rank 0 sends 64 requests, whose handler at rank 1 replies to the last. Rank 0 times from its \
        first call to the reply; the time is a 64th of it, the rate is size / time. Up to 888 bytes are medium \
        messages; longer ones are written to rank 1's segment. There are fewer messages above 4 MiB, as in \
        bandwidth, which is the same stream of the fabric's own messages.",
    source: paper::ACTIVE_MESSAGES.part(""),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 0, blocks: 1 }),
    headlines: &[Headline { words: "fastest active messages", metric: "rate", size_bytes: None }],
    measure: streams,
    program: Program { parts: |shape| window(shape) as u64, ..OWN_DATA },
    ..BENCHMARK
};

fn streams(bench: &mut Bench<'_>) -> Result<()> {
    let program = bench.definition.program;
    let count = window(&bench.shape) as u64;
    let mut partner = Partner::open(bench, count).map_err(Error::into_contract)?;
    let outcome = bench.sampled_as(program, |rank, data| {
        partner.expected += 1;
        let expected = partner.expected;
        let mut entered = partner.enter(rank);
        let outcome = match data.role {
            Role::First => entered
                .send(STORE, count, BUFFERS)
                .and_then(|()| entered.wait_until(|state| state.replies == expected)),
            Role::Second => entered.wait_until(|state| state.requests >= expected * count),
            Role::Other => Ok(()),
        };
        outcome.map_err(Error::into_contract)
    })?;
    let from = (bench.shape.role() == Role::Second).then(|| bench.shape.peer());
    partner.close(bench, from).map_err(Error::into_contract)?;
    bench.report(program, outcome, Default::default())
}
