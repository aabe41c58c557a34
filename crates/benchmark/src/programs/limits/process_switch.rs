//! Two processes on one processor wake each other.

use std::sync::atomic::Ordering;

use contract::{Rank, Result, Source};

use super::core_to_core::{SHARED_LINE, there_and_back};
use crate::case::once;
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::program::Program;
use crate::programs::common::{BENCHMARK, ITS_TAG};
use crate::ranks::{Placement, RankRule};

pub(in crate::programs) const PROCESS_SWITCH: Benchmark = Benchmark {
    name: "process-switch",
    group: Group::Limits,
    summary: "a context switch from one sleeping process to another",
    explains: "Two ranks on the same processor change a shared word alternately; each wakes the other and \
        sleeps in the kernel. The first rank times the round trip; the time is half of it: one wake-up, one sleep \
        and one context switch. If ranks share processors, no message can be faster than this.",
    ranks: RankRule::Exactly(2),
    placement: Placement::OneProcessor,
    cases: once,
    program: Program { event: switch, parts: |_| 2, ..SHARED_LINE },
    ..BENCHMARK
};

fn switch(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    there_and_back(rank, data, put, sleep_until)
}

fn put(rank: &dyn Rank, value: u64) {
    if let Some(line) = rank.shared_line() {
        // Release, with the Acquire of the other's wait.
        line.word(0).store(value, Ordering::Release);
        line.wake(0);
    }
}

fn sleep_until(rank: &mut dyn Rank, value: u64) -> Result<()> {
    while let Some(line) = rank.shared_line() {
        line.sleep_while(0, value - 1);
        // Acquire, with the Release of the other's put.
        if line.word(0).load(Ordering::Acquire) == value {
            break;
        }
        // A spurious wake-up: polling for messages fails if the other rank is dead.
        rank.probe(Source::Any, ITS_TAG)?;
    }
    Ok(())
}
