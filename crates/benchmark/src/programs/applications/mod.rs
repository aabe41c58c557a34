//! Applications: whole programs, beside the best serial program on the same machine.

pub(super) mod multiply;
pub(super) mod parallel_fft;
pub(super) mod parallel_sort;
pub(super) mod sor;
pub(super) mod tracking;

use analysis::limits::BoundRule;
use analysis::parallel::{COMMUNICATION, EFFICIENCY, Parallel, SERIAL, SPEED_UP, UNEVEN, WORK};
use applications::{Application, Spent, Timed};
use contract::{Error, Rank, Result, TimeSpan};
use record::{Better, Measurement, ParameterValue, Parameters};

use crate::bench::Bench;
use crate::case::{Case, Scope, sized};
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::presentation::View;
use crate::program::{Program, Timing};
use crate::programs::common::{BENCHMARK, COLLECTIVE};
use crate::ranks::RankRule;
use crate::timed_loop::Outcome;

/// Parameter of a program's form.
const FORM: &str = "form";

/// Common parts of applications: any number of ranks, and a time from a synchronised start to the last rank's end.
pub(super) const APPLICATION: Benchmark = Benchmark {
    group: Group::Applications,
    ranks: RankRule::AtLeast(1),
    bound: BoundRule::None,
    view: View::Efficiency,
    program: Program {
        blocks: |shape| held(shape, 3),
        received: Received::Nothing,
        moved: |_| 0,
        ..COLLECTIVE
    },
    repeatable: false,
    ..BENCHMARK
};

/// Returns the memory of a rank, in problems: the first rank also has the serial program, of `serial` problems.
fn held(shape: &crate::shape::Shape, serial: usize) -> Blocks {
    let own = 4usize.div_ceil(shape.ranks).max(1);
    Blocks { send: if shape.me == 0 { serial + 3 } else { own }, ..Blocks::NONE }
}

/// Returns a case for each size of the problem and each form, which is a list of parameters.
fn cases(
    scope: &Scope,
    sizes: &[u64],
    round: impl Fn(u64) -> u64,
    forms: &[Parameters],
) -> Vec<Case> {
    let mut rounded: Vec<u64> =
        sized(scope, sizes).into_iter().map(|case| round(case.size_bytes)).collect();
    rounded.dedup();
    let of_size = |size_bytes: u64| {
        forms.iter().map(move |form| Case { parameters: form.clone(), size_bytes })
    };
    rounded.into_iter().flat_map(of_size).collect()
}

/// Returns the parameters of a form.
fn form<const N: usize>(name: &str, more: [(&str, ParameterValue); N]) -> Parameters {
    let more = more.into_iter().map(|(name, value)| (name.to_string(), value));
    std::iter::once((FORM.to_string(), name.into())).chain(more).collect()
}

/// Returns the name of the form of a step.
fn form_of(bench: &Bench<'_>) -> String {
    bench.step.parameters.get(FORM).map(ToString::to_string).unwrap_or_default()
}

fn boxed<A: Application + 'static>(application: A) -> Box<dyn Application> {
    Box::new(application)
}

/// Share of the time of a measurement that the serial program may take.
const SERIAL_SHARE: f64 = 0.3;

/// Runs an application and the serial program, checks the result, and reports the gain of the one over the other. An
/// application that is impossible with this problem and these ranks is skipped; the reason is the same on every rank.
fn measure(bench: &mut Bench<'_>, made: Result<Box<dyn Application>>) -> Result<()> {
    let mut application = match made {
        Err(Error::Program(reason)) => return bench.skip(reason),
        made => made?,
    };
    let program = bench.definition.program;
    if bench.skips_without_rate(application.kinds())? {
        return application.finish(bench.rank);
    }
    let limit = bench.limit;
    bench.limit = TimeSpan::from_s(SERIAL_SHARE * limit.as_s());
    let me = bench.shape.me;
    let mut alone = Spent::default();
    let serial = bench.measure(Timing::First, true, |rank| match me {
        0 => Timed::new(rank, &mut alone).run(|rank| application.run_serial(rank)),
        _ => Ok(()),
    })?;
    bench.limit = limit;
    let mut spent = Spent::default();
    let outcome = bench.measure(program.timing, program.in_a_row, |rank| {
        Timed::new(rank, &mut spent).run(|rank| application.run(rank))
    })?;
    if Timed::new(bench.rank, &mut Spent::default()).computes() {
        application.check(bench.rank)?;
    }
    let all = all_spent(bench.rank, &spent)?;
    let quantities = application.quantities();
    application.finish(bench.rank)?;
    let (Some(serial), Some(outcome)) = (serial, outcome) else { return Ok(()) };
    let mut measured = measurements(bench, &serial, &outcome, &all)?;
    for quantity in quantities {
        let value = quantity.value;
        let metric = bench.subject(Parameters::new()).derived(
            &measured[0],
            quantity.name,
            quantity.unit,
            |_| value,
        )?;
        measured.push(Measurement { better: Better::Lower, ..metric });
    }
    bench.emit(Event::Measured(measured))
}

/// Returns the times spent by each rank.
fn all_spent(rank: &mut dyn Rank, spent: &Spent) -> Result<Vec<[f64; 3]>> {
    let own = [spent.total, spent.computing, spent.checking].map(|span| span.as_us());
    let mut all = vec![[0.0; 3]; rank.size()];
    rank.allgather(bytemuck::cast_slice(&own), bytemuck::cast_slice_mut(&mut all))?;
    Ok(all)
}

/// Returns the time, and all metrics that follow from it and the serial program's.
fn measurements(
    bench: &Bench<'_>,
    serial: &Outcome,
    outcome: &Outcome,
    spent: &[[f64; 3]],
) -> Result<Vec<Measurement>> {
    let subject = bench.subject(Parameters::new());
    let time = subject.time(1, outcome)?;
    let serial = Measurement { metric: SERIAL.into(), ..subject.time(1, serial)? };
    if time.samples.iter().any(|&us| us <= 0.0) {
        return Err(Error::Program("no time passed, although the machine has all rates".into()));
    }
    let ranks = spent.len() as f64;
    let serial_us = serial.summary.median;
    // Both are sums over the same runs, including the warm-up, so their ratio is exact.
    let longest = spent.iter().map(|spent| spent[0]).fold(0.0, f64::max);
    let share = |us: f64| us / longest * time.summary.median;
    let parallel = Parallel {
        serial: serial_us,
        time: time.summary.median,
        computing: spent.iter().map(|spent| share(spent[1])).collect(),
    };
    let checking = spent.iter().map(|spent| spent[2]).fold(0.0, f64::max) / longest;
    let derived = |name: &str, unit: &str, better: Better, formula: &dyn Fn(f64) -> f64| {
        let metric = subject.derived(&time, name, unit, formula)?;
        Ok(Measurement { better, ..metric })
    };
    let mut all = vec![
        derived(SPEED_UP, "x", Better::Higher, &|us| serial_us / us)?,
        derived(EFFICIENCY, "%", Better::Higher, &|us| 100.0 * serial_us / us / ranks)?,
        serial,
        derived(WORK, "%", Better::Lower, &|_| 100.0 * parallel.work())?,
        derived(UNEVEN, "%", Better::Lower, &|_| 100.0 * parallel.uneven())?,
        derived(COMMUNICATION, "%", Better::Lower, &|_| 100.0 * parallel.communication())?,
    ];
    if checking > 0.0 {
        all.push(derived("checking", "%", Better::Lower, &|_| 100.0 * checking)?);
    }
    all.insert(0, time);
    Ok(all)
}
