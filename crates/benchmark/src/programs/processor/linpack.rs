//! The Linpack benchmark.

use analysis::limits::{BoundRule, Precision};
use contract::{Result, Work, WorkKind};
use kernels::linpack::{System, nominal_operations};
use record::{Better, Measurement, Parameters};

use super::{PROCESSOR, case, failed, rate, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;
use crate::event::Event;
use crate::paper;
use crate::presentation::{Headline, KeyFigure};

pub(in crate::programs) const LINPACK: Benchmark = Benchmark {
    name: "linpack",
    summary: "MFLOP/s for solving dense linear equations, and the residual",
    explains: "One rank solves 100 or 500 dense equations in double precision by Gaussian elimination with \
        partial pivoting, column by column, as in the LINPACK users' guide (1979); the rate counts 2/3 n^3 + 2 n^2 \
        operations. The residual is the largest element of A x - b in units of n times the largest elements of A \
        and x times the rounding error; it is at most about ten for a correct solution.",
    source: paper::LINPACK.part(""),
    bound: BoundRule::Peak(Precision::Double),
    headlines: &[Headline { words: "Linpack", metric: "rate", size_bytes: None }],
    key_figures: &[KeyFigure::Linpack.after(0)],
    cases: |_| SIZES.map(|size| case([("equations", size.into())])).to_vec(),
    measure,
    ..PROCESSOR
};

const SIZES: [u64; 2] = [100, 500];

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let size = bench.number("equations")?;
    let mut system = System::new(size).map_err(failed)?;
    system.solve().map_err(failed)?;
    let residual = system.residual().map_err(failed)?;
    let operations = nominal_operations(size);
    let work = Work::new(WorkKind::FloatingPoint, operations as u64);
    let Some(time) = timed(bench, work, 1, || system.solve())? else { return Ok(()) };
    let rate = rate(bench, &time, "MFLOP/s", operations)?;
    let residual =
        bench.subject(Parameters::new()).derived(&time, "residual", "roundings", |_| residual)?;
    let residual = Measurement { better: Better::Lower, ..residual };
    bench.emit(Event::Measured([Some(time), rate, Some(residual)].into_iter().flatten().collect()))
}
