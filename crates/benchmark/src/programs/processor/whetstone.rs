//! The Whetstone benchmark.

use contract::{Result, Work, WorkKind};
use kernels::whetstone::{INSTRUCTIONS_PER_UNIT, run};

use super::{PROCESSOR, programs_run, tell, timed};
use crate::catalogue::Benchmark;
use crate::execute::Bench;

pub(in crate::programs) const WHETSTONE: Benchmark = Benchmark {
    name: "whetstone",
    summary: "Whetstones per second: floating point as programs of 1970 had it",
    explains: "One rank runs the eight modules of Curnow and Wichmann's benchmark (1976) in double precision, in a unit of \
        100000 Whetstone instructions; the time is that of a unit, and every module's results are checked. Grunwald \
        and Reed 1986, table 3, has 684463 Whetstones on a Mark-III and 102637 on an iPSC.",
    measure,
    ..PROCESSOR
};

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if !programs_run(bench)? {
        return Ok(());
    }
    let work = Work::new(WorkKind::FloatingPoint, INSTRUCTIONS_PER_UNIT);
    match timed(bench, work, 1, || run(std::hint::black_box(1)).map(drop))? {
        Some(time) => tell(bench, time, "Whetstones/s", INSTRUCTIONS_PER_UNIT as f64 * 1e6),
        None => Ok(()),
    }
}
