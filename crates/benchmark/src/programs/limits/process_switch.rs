//! Two processes on one processor wake each other.

use contract::{Rank, Result};

use super::core_to_core::{SHARED_LINE, there_and_back};
use crate::case::once;
use crate::core_to_core::{put_and_wake, sleep_until};
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::program::Program;
use crate::programs::common::BENCHMARK;
use crate::ranks::{Placement, RankRule};

pub(in crate::programs) const PROCESS_SWITCH: Benchmark = Benchmark {
    name: "process-switch",
    group: Group::Limits,
    summary: "a context switch from one sleeping process to another",
    explains: "Two ranks on the same processor change a shared word alternately; each wakes the other and \
        sleeps in the kernel. The first rank times the round trip; the time is half of it: one wake-up, one sleep \
        and one context switch. If ranks share processors, no message that a rank waits for can be faster than this.",
    ranks: RankRule::Exactly(2),
    placement: Placement::OneProcessor,
    cases: once,
    program: Program { event: switch, parts: |_| 2, ..SHARED_LINE },
    ..BENCHMARK
};

fn switch(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    there_and_back(rank, data, put_and_wake, sleep_until)
}
