//! The Whetstone benchmark.

use analysis::limits::{BoundRule, Precision};
use contract::{Result, Work, WorkKind};
use kernels::whetstone::{INSTRUCTIONS_PER_UNIT, OPERATIONS_PER_UNIT, run};
use record::Measurement;

use super::{PROCESSOR, programs_run, rate, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;
use crate::event::Event;
use crate::paper;

pub(in crate::programs) const WHETSTONE: Benchmark = Benchmark {
    name: "whetstone",
    summary: "Whetstones per second: floating point of typical programs of 1970",
    explains: "One rank runs the eight modules of Curnow and Wichmann's benchmark (1976) in double precision, \
        in a unit of 100000 Whetstone instructions; the time is that of a unit, and every module's results are \
        checked. Grunwald and Reed 1986, table 3, has 684463 Whetstones on a Mark-III and 102637 on an iPSC. \
        Whetstone instructions are those of an interpreter; the operation rate counts the floating-point \
        operations among them, with an elementary function as one, and can be compared with the core's peak.",
    source: paper::WHETSTONE.part(""),
    bound: BoundRule::Peak(Precision::Double),
    measure,
    ..PROCESSOR
};

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if !programs_run(bench)? {
        return Ok(());
    }
    let work = Work::new(WorkKind::FloatingPoint, INSTRUCTIONS_PER_UNIT);
    let Some(time) = timed(bench, work, 1, || run(std::hint::black_box(1)).map(drop))? else {
        return Ok(());
    };
    let instructions = rate(bench, &time, "Whetstones/s", INSTRUCTIONS_PER_UNIT as f64 * 1e6)?;
    let operations = rate(bench, &time, "MFLOP/s", OPERATIONS_PER_UNIT as f64)?
        .map(|rate| Measurement { metric: "operation_rate".into(), ..rate });
    bench.emit(Event::Measured(
        [Some(time), instructions, operations].into_iter().flatten().collect(),
    ))
}
