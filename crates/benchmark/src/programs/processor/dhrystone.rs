//! The Dhrystone benchmark.

use contract::{Result, Work, WorkKind};
use kernels::dhrystone::run;

use super::{PROCESSOR, programs_run, report_rate, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;
use crate::paper;

pub(in crate::programs) const DHRYSTONE: Benchmark = Benchmark {
    name: "dhrystone",
    summary: "Dhrystones per second: typical statements of systems programs of 1984",
    explains: "One rank runs Weicker's benchmark, version 2 (1988), a thousand Dhrystones at a time; the time \
        is that of one, and every variable is checked at the end. Procedures are not inlined, as its rules \
        require. Grunwald and Reed 1986, table 3, has 3472 Dhrystones (of version 1) on a Mark-III and 724 on an \
        iPSC.",
    source: paper::DHRYSTONE.part(""),
    measure,
    ..PROCESSOR
};

const RUNS: u32 = 1000;

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if !programs_run(bench)? {
        return Ok(());
    }
    let work = Work::new(WorkKind::FloatingPoint, u64::from(RUNS));
    match timed(bench, work, u64::from(RUNS), || run(std::hint::black_box(RUNS)))? {
        Some(time) => report_rate(bench, time, "Dhrystones/s", 1e6),
        None => Ok(()),
    }
}
