//! The simple processor benchmarks of the hypercube study.

use contract::{Result, Work, WorkKind};
use kernels::classic::Classic;

use super::{PROCESSOR, failed, programs_run, timed};
use crate::bench::Bench;
use crate::declaration::Benchmark;
use crate::event::Event;
use crate::paper;

const fn classic(
    name: &'static str,
    summary: &'static str,
    explains: &'static str,
    measure: fn(&mut Bench<'_>) -> Result<()>,
) -> Benchmark {
    let source = paper::HYPERCUBE.part("tables 2 and 3");
    Benchmark { name, summary, explains, source, measure, ..PROCESSOR }
}

pub(in crate::programs) const LOOPS: Benchmark = classic(
    "loops",
    "10 null loops of a million iterations (hypercube study)",
    "One rank counts to a million ten times; the time is that of all ten. The optimiser may not look into the loop. \
        The paper has 8.8 s on a Mark-III, 65.6 s on an iPSC.",
    |bench| measure(bench, Classic::Loops),
);

pub(in crate::programs) const SIEVE: Benchmark = classic(
    "sieve",
    "100 times the primes up to 8190 (hypercube study)",
    "One rank finds the 1027 primes up to 8190 by the sieve of Eratosthenes, a hundred times; the time is that of all. \
        The paper has 6.4 s on a Mark-III, 21.5 s on an iPSC.",
    |bench| measure(bench, Classic::Sieve),
);

pub(in crate::programs) const FIBONACCI: Benchmark = classic(
    "fibonacci",
    "20 times the 24th Fibonacci number by recursion (hypercube study)",
    "One rank computes the 24th Fibonacci number by double recursion, 92735 calls, twenty times; the time is that of \
        all. The paper has 10.0 s on a Mark-III, 39.2 s on an iPSC.",
    |bench| measure(bench, Classic::Fibonacci),
);

pub(in crate::programs) const HANOI: Benchmark = classic(
    "hanoi",
    "the towers of Hanoi with 18 discs (hypercube study)",
    "One rank moves a tower of 18 discs in 262143 moves. The paper has 4.4 s on a Mark-III, 12.5 s on an iPSC.",
    |bench| measure(bench, Classic::Hanoi),
);

pub(in crate::programs) const SORT: Benchmark = classic(
    "sort",
    "14 quicksorts of 1000 random elements (hypercube study)",
    "One rank makes and sorts 1000 random elements by recursion, fourteen times; the time is that of all. The \
        paper has 11.8 s on a Mark-III, 42.3 s on an iPSC.",
    |bench| measure(bench, Classic::Sort),
);

pub(in crate::programs) const PUZZLE_SUBSCRIPT: Benchmark = classic(
    "puzzle-subscript",
    "10 times Baskett's packing puzzle with subscripts (hypercube study)",
    "One rank packs a box with bricks by search, 2005 trials, ten times; the time is that of all. The paper has \
        45.5 s on a Mark-III, 87.6 s on an iPSC.",
    |bench| measure(bench, Classic::PuzzleSubscript),
);

pub(in crate::programs) const PUZZLE_POINTER: Benchmark = classic(
    "puzzle-pointer",
    "10 times Baskett's packing puzzle with pointers (hypercube study)",
    "The same search as puzzle-subscript, by pointers that walk over box and bricks. The paper has 20.2 s on a \
        Mark-III, 112.5 s on an iPSC, whose pointers were two words.",
    |bench| measure(bench, Classic::PuzzlePointer),
);

fn measure(bench: &mut Bench<'_>, program: Classic) -> Result<()> {
    if !programs_run(bench)? {
        return Ok(());
    }
    let repetitions = program.repetitions();
    let steps = program.run(repetitions).map_err(failed)?;
    let work = Work::new(WorkKind::FloatingPoint, steps);
    match timed(bench, work, 1, || program.run(repetitions).map(drop))? {
        Some(time) => bench.emit(Event::Measured(vec![time])),
        None => Ok(()),
    }
}
