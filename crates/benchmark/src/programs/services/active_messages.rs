//! A request and its reply.

use ::services::Error;
use analysis::limits::{BoundRule, Traffic};
use contract::Result;

use super::partner::{ECHO, Partner};
use crate::bench::Bench;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, OWN_DATA};
use crate::shape::Role;

pub(in crate::programs) const ACTIVE_MESSAGES: Benchmark = Benchmark {
    name: "active-messages",
    group: Group::Services,
    summary: "half of an active message's round trip: a request and its reply",
    explains: "Rank 0 sends a request to rank 1, whose handler replies with as many bytes; rank 0 times from \
        its call until the handler of the reply has run. The time is half of it, the rate is size / time. Up to \
        888 bytes are medium messages, which the handler copies; longer ones are written to the receiver's \
        segment. ping-pong does the same with the fabric's own messages.",
    source: paper::ACTIVE_MESSAGES.part(""),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    headlines: &[Headline {
        words: "active message of 8 bytes",
        metric: "time",
        size_bytes: Some(8),
    }],
    measure: round_trips,
    program: Program { parts: |_| 2, ..OWN_DATA },
    ..BENCHMARK
};

fn round_trips(bench: &mut Bench<'_>) -> Result<()> {
    let program = bench.definition.program;
    let mut partner = Partner::open(bench, 1).map_err(Error::into_contract)?;
    let outcome = bench.sampled_as(program, |rank, data| {
        partner.expected += 1;
        let expected = partner.expected;
        let mut entered = partner.enter(rank);
        let outcome = match data.role {
            Role::First => entered
                .send(ECHO, 1, 1)
                .and_then(|()| entered.wait_until(|state| state.replies == expected)),
            Role::Second => entered.wait_until(|state| state.requests >= expected),
            Role::Other => Ok(()),
        };
        outcome.map_err(Error::into_contract)
    })?;
    let from = (bench.shape.role() != Role::Other).then(|| bench.shape.peer());
    partner.close(bench, from).map_err(Error::into_contract)?;
    bench.report(program, outcome, Default::default())
}
