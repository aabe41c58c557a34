//! One message in one direction.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};
use record::Parameters;

use crate::bench::Bench;
use crate::case::METHOD;
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::KeyFigure;
use crate::program::{Program, Timing};
use crate::programs::common::{
    BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG, from_first_to_second, round_trip,
};
use crate::shape::Role;
use crate::timed_loop::Outcome;

pub(in crate::programs) const SIMPLE_TRANSFER: Benchmark = Benchmark {
    name: "simple-transfer",
    group: Group::Latencies,
    summary: "one message, from its sender's call to its receiver's return",
    explains: "Rank 1 reports that it is ready and receives; rank 0 sends. The time is rank 1's return minus \
        rank 0's call, by their common clock; the rate is size / time. If the two clocks may differ by more than 5 \
        % of that time, half of a send-and-reply is reported instead, and the measurement is marked \
        (method=half-of-reply).",
    source: paper::HYPERCUBE.part("simple communication, first test"),
    bound: BoundRule::Pair(|_| Traffic { hand_overs: 1, blocks: 1 }),
    key_figures: &[
        KeyFigure::ShortMessage.after(2),
        KeyFigure::RateOneWay.after(2),
        KeyFigure::StraightLine.after(2),
    ],
    program: Program {
        timing: Timing::OneWay,
        in_a_row: false,
        blocks: from_first_to_second,
        event: transfer,
        ..BETWEEN_TWO
    },
    measure,
    ..BENCHMARK
};

const HALF_OF_REPLY: Program = Program { event: round_trip, parts: |_| 2, ..BETWEEN_TWO };

fn transfer(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    match data.role {
        Role::First => rank.send(data.peer, TAG, &data.send),
        Role::Second => rank.receive(Source::Rank(data.peer), ITS_TAG, &mut data.receive).map(drop),
        Role::Other => Ok(()),
    }
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let one_way = bench.definition.program;
    let outcome = bench.sampled(one_way)?;
    let mut trusted =
        [outcome.as_ref().is_some_and(|outcome| is_trusted(bench.rank, outcome)).into()];
    bench.rank.broadcast(0, &mut trusted)?;
    if trusted == [1] {
        return bench.report(one_way, outcome, Parameters::new());
    }
    let outcome = bench.sampled(HALF_OF_REPLY)?;
    let method = Parameters::from([(METHOD.into(), "half-of-reply".into())]);
    bench.report(HALF_OF_REPLY, outcome, method)
}

/// Permitted difference of the clocks as a share of the time.
const UNCERTAINTY_MAX: f64 = 0.05;

fn is_trusted(rank: &dyn Rank, one_way: &Outcome) -> bool {
    rank.clock().uncertainty.as_ps() as f64 <= UNCERTAINTY_MAX * one_way.median_ps()
}
