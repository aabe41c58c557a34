//! Many operations on another rank's memory in a row.

use contract::Reduction;

use super::latencies::{ACCUMULATE, PUT, add, check_sums};
use super::opened::{PUTS, TimedAccess};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::Headline;
use crate::program::Program;
use crate::programs::bandwidths::window;

pub(in crate::programs) const PUT_STREAM: Benchmark = Benchmark {
    name: "put-stream",
    summary: "a stream of puts one way, 64 before a flush",
    explains: "Rank 0 puts 64 blocks to the same address in the memory of rank 1 and flushes; it times from \
        the first call to the return of the flush. The time is a 64th of it, the rate is size / time. There are \
        fewer blocks above 4 MiB, as in bandwidth, which is the same stream of messages.",
    source: paper::OSU.part("osu_put_bw"),
    headlines: &[Headline { words: "fastest stream of puts", metric: "rate", size_bytes: None }],
    measure: |bench| super::between_two(bench, MANY_PUTS),
    program: Program { parts: |shape| window(shape) as u64, ..PUT.program },
    ..PUT
};

const MANY_PUTS: TimedAccess = TimedAccess {
    event: |opened, rank, data| {
        for _ in 0..window(&data.shape) {
            opened.window.put(rank, data.peer, 0, &data.send)?;
        }
        opened.window.flush(rank, Some(data.peer))
    },
    requests: |shape| window(shape) as u64,
    ..PUTS
};

pub(in crate::programs) const ACCUMULATE_STREAM: Benchmark = Benchmark {
    name: "accumulate-stream",
    summary: "a stream of accumulates one way, 64 before a flush",
    explains: "As put-stream, with double-precision numbers that are added to those in the memory of rank 1, each \
        atomically. The sums are checked.",
    source: None,
    headlines: &[Headline { words: "fastest accumulate", metric: "rate", size_bytes: None }],
    measure: |bench| super::between_two(bench, MANY_SUMS),
    program: Program { parts: |shape| window(shape) as u64, ..PUT.program },
    ..ACCUMULATE
};

const MANY_SUMS: TimedAccess = TimedAccess {
    action: add,
    event: |opened, rank, data| {
        if opened.events == 1 {
            data.send.elements_mut::<f64>().fill(1.0);
        }
        for _ in 0..window(&data.shape) {
            let place = (data.peer, 0);
            opened.window.accumulate(rank, place, Reduction::SUM_F64, &data.send, None)?;
        }
        opened.window.flush(rank, Some(data.peer))
    },
    requests: |shape| window(shape) as u64,
    check: |opened, bench| check_sums(opened, bench, window(&bench.shape) as u64),
    ..PUTS
};
