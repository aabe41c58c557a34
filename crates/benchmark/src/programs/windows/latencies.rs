//! Single operations on another rank's memory.

use analysis::limits::{BoundRule, Traffic};
use contract::{Action, Arithmetic, Error, Reduction, Result};

use super::opened::{Opened, PUTS, TimedAccess};
use crate::bench::Bench;
use crate::data::{Blocks, Received};
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::collectives::each_size_in_numbers;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO};
use crate::shape::{Role, Shape};

/// Bound of an operation. No rank waits for it as for a message: on shared memory nothing is handed over.
const COPIED: BoundRule = BoundRule::Pair(|_| Traffic { hand_overs: 0, blocks: 1 });

pub(in crate::programs) const PUT: Benchmark = Benchmark {
    name: "put",
    group: Group::Windows,
    summary: "a put into another rank's memory, until it has arrived",
    explains: "Rank 0 puts a block into the memory of rank 1 and flushes; it times from the call to the return \
        of the flush, and the rate is size / time. Over shared memory rank 1 does not participate; if puts are \
        messages, it only serves requests.",
    source: paper::OSU.part("osu_put_latency"),
    bound: COPIED,
    headlines: &[Headline { words: "put of 8 bytes", metric: "time", size_bytes: Some(8) }],
    measure: |bench| super::between_two(bench, PUT_AND_FLUSH),
    program: Program { blocks: of_first, received: Received::Nothing, ..BETWEEN_TWO },
    ..BENCHMARK
};

const PUT_AND_FLUSH: TimedAccess = TimedAccess {
    event: |opened, rank, data| {
        opened.window.put(rank, data.peer, 0, &data.send)?;
        opened.window.flush(rank, Some(data.peer))
    },
    ..PUTS
};

pub(in crate::programs) const GET: Benchmark = Benchmark {
    name: "get",
    summary: "a get from another rank's memory",
    explains: "Rank 0 gets a block from the memory of rank 1, and times from the call to the return; the rate \
        is size / time. Over shared memory rank 1 does not participate; if gets are messages, it only serves \
        requests.",
    source: paper::OSU.part("osu_get_latency"),
    headlines: &[Headline { words: "get of 8 bytes", metric: "time", size_bytes: Some(8) }],
    measure: |bench| super::between_two(bench, GET_ONE),
    program: Program {
        blocks: |shape| match shape.role() {
            Role::First => Blocks { receive: 1, ..Blocks::NONE },
            _ => Blocks::NONE,
        },
        received: Received::Blocks(|shape, _| (shape.peer(), 0)),
        ..BETWEEN_TWO
    },
    ..PUT
};

const GET_ONE: TimedAccess = TimedAccess {
    prepare: Opened::fill_own,
    action: || Action::Nothing,
    event: |opened, rank, data| opened.window.get(rank, data.peer, 0, &mut data.receive),
    check: |_, _| Ok(()),
    ..PUTS
};

pub(in crate::programs) const ACCUMULATE: Benchmark = Benchmark {
    name: "accumulate",
    summary: "adding numbers to another rank's memory, until it has ended",
    explains: "Rank 0 atomically adds double-precision numbers to those in the memory of rank 1, and flushes. \
        It times from the call to the return of the flush; the rate is size / time. The sums are checked.",
    source: paper::OSU.part("osu_acc_latency"),
    cases: each_size_in_numbers,
    headlines: &[Headline { words: "accumulate of 8 bytes", metric: "time", size_bytes: Some(8) }],
    measure: |bench| super::between_two(bench, ADD_AND_FLUSH),
    ..PUT
};

const ADD_AND_FLUSH: TimedAccess = TimedAccess {
    action: add,
    event: |opened, rank, data| {
        if opened.events == 1 {
            data.send.elements_mut::<f64>().fill(1.0);
        }
        let place = (data.peer, 0);
        opened.window.accumulate(rank, place, Reduction::SUM_F64, &data.send, None)?;
        opened.window.flush(rank, Some(data.peer))
    },
    check: |opened, bench| check_sums(opened, bench, 1),
    ..PUTS
};

/// Returns the access of an accumulate.
pub(super) fn add() -> Action {
    Action::Combine(Arithmetic::code(Reduction::SUM_F64))
}

/// Checks that every element was incremented this number of times in each event.
pub(super) fn check_sums(opened: &mut Opened, bench: &mut Bench<'_>, times: u64) -> Result<()> {
    if bench.shape.role() != Role::Second {
        return Ok(());
    }
    let (sum, size) = ((opened.events * times) as f64, bench.shape.size);
    let found = opened.own(bench, 0, size)?;
    match found.elements::<f64>().iter().position(|&one| one != sum) {
        None => Ok(()),
        Some(index) => Err(Error::Program(format!(
            "wrong data: element {index} of the window is {} where the sum is {sum}",
            found.elements::<f64>()[index]
        ))),
    }
}

/// Returns the blocks: the first rank has one from which it sends.
pub(super) fn of_first(shape: &Shape) -> Blocks {
    match shape.role() {
        Role::First => Blocks { send: 1, ..Blocks::NONE },
        _ => Blocks::NONE,
    }
}
