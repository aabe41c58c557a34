//! Benchmarks of one processor: kernels of signal processing, and the classic programs by which processors were
//! compared. One rank each; nothing is sent.

pub(super) mod classic;
pub(super) mod corner_turn;
pub(super) mod dhrystone;
pub(super) mod fft;
pub(super) mod foldfft;
pub(super) mod hpec;
pub(super) mod linpack;
pub(super) mod peak;
pub(super) mod stream;
pub(super) mod whetstone;

use contract::{Result, Work, WorkKind};
use record::{Measurement, ParameterValue, Parameters};

use crate::bench::Bench;
use crate::case::{Case, once};
use crate::declaration::{Benchmark, Group};
use crate::error::failed;
use crate::event::Event;
use crate::program::Timing;
use crate::programs::common::{BENCHMARK, NO_DATA};
use crate::ranks::RankRule;

/// Their common parts: one rank, and no buffers for messages.
const PROCESSOR: Benchmark = Benchmark {
    group: Group::Processor,
    ranks: RankRule::Exactly(1),
    cases: once,
    program: NO_DATA,
    repeatable: false,
    ..BENCHMARK
};

/// Returns a case with these parameters.
fn case<const N: usize>(parameters: [(&str, ParameterValue); N]) -> Case {
    let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value));
    Case { parameters: parameters.collect(), ..Case::default() }
}

/// Returns the element of `all` that a case names by its text under this name.
fn choice<T: Copy>(
    bench: &Bench<'_>,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T> {
    let wanted = match bench.step.parameters.get(name) {
        Some(ParameterValue::Text(text)) => text.as_str(),
        _ => "",
    };
    let found = all.iter().copied().find(|&one| name_of(one) == wanted);
    found.ok_or_else(|| bench.unknown(name))
}

/// Times `body`, which computes `work`. The time is that of one of `parts` equal parts. Skips the measurement if this
/// machine has no rate for the work.
fn timed(
    bench: &mut Bench<'_>,
    work: Work,
    parts: u64,
    mut body: impl FnMut() -> kernels::Result<()>,
) -> Result<Option<Measurement>> {
    if bench.skips_without_rate(&[work.kind])? {
        return Ok(None);
    }
    let outcome = bench.measure(Timing::First, true, |rank| {
        let mut result = Ok(());
        rank.compute(work, &mut || result = body());
        result.map_err(failed)
    })?;
    outcome.map(|outcome| bench.subject(Parameters::new()).time(parts, &outcome)).transpose()
}

/// Reports a time, and the rate of `amount` units per millionth of a `unit`.
fn report_rate(bench: &mut Bench<'_>, time: Measurement, unit: &str, amount: f64) -> Result<()> {
    let rate = rate(bench, &time, unit, amount)?;
    bench.emit(Event::Measured(std::iter::once(time).chain(rate).collect()))
}

/// Returns `amount` over the time in microseconds; `None` if no time passed.
fn rate(
    bench: &Bench<'_>,
    time: &Measurement,
    unit: &str,
    amount: f64,
) -> Result<Option<Measurement>> {
    if time.samples.iter().any(|&us| us <= 0.0) {
        return Ok(None);
    }
    let subject = bench.subject(Parameters::new());
    subject.derived(time, "rate", unit, |us| amount / us).map(Some)
}

/// Returns whether programs really run here. A simulated machine has times for a transform or a copy, but not for other
/// programs: there the measurement is skipped.
fn programs_run(bench: &mut Bench<'_>) -> Result<bool> {
    let mut time_of = |steps: u64| {
        let before = bench.rank.now();
        bench.rank.compute(Work::new(WorkKind::FloatingPoint, 0), &mut || {
            std::hint::black_box((0..steps).map(std::hint::black_box).sum::<u64>());
        });
        bench.rank.now().since(before)
    };
    // In virtual time both contain one poll of the clock and nothing else.
    if time_of(100_000) != time_of(0) {
        return Ok(true);
    }
    bench
        .skip("a simulated machine does not run programs, and knows no rate for this one".into())?;
    Ok(false)
}
