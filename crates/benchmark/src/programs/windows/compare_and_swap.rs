//! A word that is swapped.

use contract::{Action, Arithmetic, Element, Error, Operation, Reduction};
use record::Parameters;

use super::latencies::PUT;
use super::opened::{PUTS, TimedAccess};
use crate::case::once;
use crate::declaration::Benchmark;
use crate::event::Event;
use crate::paper;
use crate::presentation::Headline;
use crate::programs::common::NO_DATA;

pub(in crate::programs) const COMPARE_AND_SWAP: Benchmark = Benchmark {
    name: "compare-and-swap",
    summary: "a compare-and-swap of a word in another rank's memory",
    explains: "Rank 0 swaps a word of 8 bytes in the memory of rank 1 for the next number, and checks that it \
        finds the previous one. It times from the call to the return. The rate is the inverse of the time: \
        operations of one rank per second.",
    source: paper::OSU.part("osu_cas_latency"),
    bound: analysis::limits::BoundRule::None,
    headlines: &[Headline { words: "compare-and-swap", metric: "time", size_bytes: Some(0) }],
    cases: once,
    repeatable: false,
    measure: |bench| super::between_two(bench, SWAPS),
    program: NO_DATA,
    ..PUT
};

const SWAPS: TimedAccess = TimedAccess {
    bytes: |_| size_of::<u64>(),
    action: || {
        let words = Reduction::new(Element::U64, Operation::Sum);
        Action::CompareAndSwap(Arithmetic::code(words))
    },
    event: |opened, rank, data| {
        let (place, now) = ((data.peer, 0), opened.events);
        let found = opened.window.compare_and_swap(rank, place, now - 1, now)?;
        if found == now - 1 {
            return Ok(());
        }
        Err(Error::Program(format!("wrong data: the word is {found} where it was {}", now - 1)))
    },
    check: |_, _| Ok(()),
    report: |bench, outcome| {
        let subject = bench.subject(Parameters::new());
        let time = subject.time(1, &outcome)?;
        let rate = subject.derived(&time, "rate", "operations/s", |us| 1e6 / us)?;
        bench.emit(Event::Measured(vec![time, rate]))
    },
    ..PUTS
};
