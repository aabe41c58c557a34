//! The cost of reading the clock, and its resolution.

use analysis::statistics::{Sample, precision_reached};
use contract::{Rank, Result};
use record::{Measurement, Parameters, StopReason, Timing as TimingRecord};

use crate::bench::Bench;
use crate::case::once;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::ranks::RankRule;
use crate::settings::Settings;
use crate::timed_loop::Outcome;

pub(in crate::programs) const CLOCK_COST: Benchmark = Benchmark {
    name: "clock-cost",
    group: Group::Limits,
    summary: "cost and resolution of the clock that times everything else",
    explains: "One rank reads the clock in batches; the time is that of one reading. The resolution is the \
        difference between two successive readings that differ, so it is at least the cost of a reading.",
    ranks: RankRule::Exactly(1),
    cases: once,
    program: Program {
        blocks: |_| Blocks::NONE,
        event: |rank, _| {
            std::hint::black_box(rank.now());
            Ok(())
        },
        received: Received::Nothing,
        moved: |_| 0,
        ..BETWEEN_TWO
    },
    measure,
    repeatable: false,
    ..BENCHMARK
};

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let Some(outcome) = bench.sampled(bench.definition.program)? else { return Ok(()) };
    let time = bench.subject(Parameters::new()).time(1, &outcome)?;
    let resolution = resolution(bench, &outcome)?;
    bench.emit(Event::Measured(vec![time, resolution]))
}

const STEPS: usize = 1000;
/// Number of equal readings after which a clock is taken to be virtual: such a clock advances only when its machine
/// acts.
const READINGS_MAX: usize = 1 << 20;

fn resolution(bench: &Bench<'_>, outcome: &Outcome) -> Result<Measurement> {
    let steps: Option<Vec<f64>> = (0..STEPS).map(|_| step_ps(bench.rank)).collect();
    let samples_ps = steps.unwrap_or_else(|| vec![bench.rank.clock().resolution.as_ps() as f64]);
    let Settings { confidence, precision, .. } = *bench.settings;
    let narrow = Sample::new(samples_ps.clone())
        .is_ok_and(|sample| precision_reached(&sample, confidence, precision));
    let stop_reason = if narrow { StopReason::Precision } else { StopReason::SampleLimit };
    let timing = TimingRecord { events_per_sample: 1, ..outcome.timing.clone() };
    let outcome = Outcome {
        samples_ps,
        warm_up_ps: Vec::new(),
        stop_reason,
        timing,
        operations_ns: Vec::new(),
        repetitions: Vec::new(),
    };
    let time = bench.subject(Parameters::new()).time(1, &outcome)?;
    Ok(Measurement { metric: "resolution".into(), ..time })
}

fn step_ps(rank: &dyn Rank) -> Option<f64> {
    let begin = rank.now();
    (0..READINGS_MAX)
        .map(|_| rank.now().since(begin).as_ps())
        .find(|&step| step > 0)
        .map(|step| step as f64)
}
