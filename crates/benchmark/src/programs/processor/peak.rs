//! The peak rate of a core.

use analysis::limits;
use contract::{Result, Work, WorkKind};
use kernels::peak::{Precision, run};

use super::{PROCESSOR, case, choice, programs_run, report_rate, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;

pub(in crate::programs) const PEAK: Benchmark = Benchmark {
    name: limits::PEAK,
    summary: "maximum floating-point operations per second of one core",
    explains: "One rank runs only independent chains of fused multiply-adds of full vector width; a \
        multiply-add counts as two operations. This is the limit of every other floating-point rate of this core, \
        and is measured beside every benchmark with such a rate.",
    cases: |_| PRECISIONS.map(|one| case([(limits::PRECISION, name(one).into())])).to_vec(),
    measure,
    ..PROCESSOR
};

const PRECISIONS: [Precision; 2] = [Precision::Single, Precision::Double];
const ROUNDS: u64 = 10_000;

fn name(precision: Precision) -> &'static str {
    match precision {
        Precision::Single => limits::Precision::Single.name(),
        Precision::Double => limits::Precision::Double.name(),
    }
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let precision = choice(bench, limits::PRECISION, &PRECISIONS, name)?;
    if !programs_run(bench)? {
        return Ok(());
    }
    let operations = run(precision, ROUNDS);
    let work = Work::new(WorkKind::FloatingPoint, operations);
    let time = timed(bench, work, 1, || {
        std::hint::black_box(run(precision, std::hint::black_box(ROUNDS)));
        Ok(())
    })?;
    match time {
        Some(time) => report_rate(bench, time, "MFLOP/s", operations as f64),
        None => Ok(()),
    }
}
