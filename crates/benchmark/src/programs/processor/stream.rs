//! STREAM.

use analysis::limits::BoundRule;

use contract::{Result, Work, WorkKind};
use kernels::stream::{Loop, Stream};

use super::{PROCESSOR, case, choice, failed, programs_run, report_rate, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;
use crate::paper;

pub(in crate::programs) const STREAM: Benchmark = Benchmark {
    name: "stream",
    summary: "STREAM's four loops over vectors in memory",
    explains: "One rank runs copy c = a, scale b = q c, add c = a + b and triad a = b + q c over three vectors \
        of 64 MiB of double-precision numbers; the rate counts 16 or 24 bytes per element, as STREAM does \
        (McCalpin 1995): the data of the loop, without lines that a cache reads before it overwrites them. The \
        elements are checked afterwards.",
    source: paper::STREAM.part(""),
    // STREAM counts the bytes read and the bytes written, `copy` the bytes copied.
    bound: BoundRule::Copy { bytes: |_| Some(VECTOR_BYTES), counted: 2 },
    cases: |_| Loop::ALL.map(|one| case([("loop", one.name().into())])).to_vec(),
    measure,
    ..PROCESSOR
};

/// The length of each vector: more than fits into the caches.
const VECTOR_BYTES: u64 = 64 << 20;
const ELEMENTS: usize = VECTOR_BYTES as usize / size_of::<f64>();

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let which = choice(bench, "loop", &Loop::ALL, Loop::name)?;
    if !programs_run(bench)? {
        return Ok(());
    }
    let mut stream = Stream::new(ELEMENTS);
    let bytes = which.bytes_per_element() * ELEMENTS as u64;
    let work = Work::new(WorkKind::CopyBytes, bytes / 2);
    let time = timed(bench, work, 1, || {
        stream.run(which);
        Ok(())
    })?;
    stream.check().map_err(failed)?;
    match time {
        Some(time) => report_rate(bench, time, "MB/s", bytes as f64),
        None => Ok(()),
    }
}
