//! A window that a benchmark has opened, and the operations on it.

use contract::{Action, Buffer, Rank, RankWindow, Result};
use record::Parameters;

use crate::bench::Bench;
use crate::contents::{check_block, fill};
use crate::data::Data;
use crate::shape::{Role, Shape};
use crate::timed_loop::Outcome;

/// A window, and the number of its events.
pub(super) struct Opened {
    pub(super) window: RankWindow,
    pub(super) events: u64,
}

/// The operation of a benchmark of two ranks on the second one's memory.
pub(super) struct TimedAccess {
    /// Amount of memory of each rank, in bytes.
    pub(super) bytes: fn(&Shape) -> usize,
    /// The action of all ranks before the first event.
    pub(super) prepare: fn(&mut Opened, &mut Bench<'_>) -> Result<()>,
    /// The access to the second rank's memory.
    pub(super) action: fn() -> Action,
    /// One event, at the first rank.
    pub(super) event: fn(&mut Opened, &mut dyn Rank, &mut Data) -> Result<()>,
    /// Number of requests of an event to the second rank, if accesses use messages.
    pub(super) requests: fn(&Shape) -> u64,
    /// The check of all ranks after the last event.
    pub(super) check: fn(&mut Opened, &mut Bench<'_>) -> Result<()>,
    /// The report of the outcome, at the rank that has it.
    pub(super) report: fn(&mut Bench<'_>, Outcome) -> Result<()>,
}

/// Puts from the first rank, checked at the second.
pub(super) const PUTS: TimedAccess = TimedAccess {
    bytes: |shape| shape.size,
    prepare: |_, _| Ok(()),
    action: || Action::Replace,
    event: |_, _, _| Ok(()),
    requests: |_| 1,
    check: |opened, bench| match bench.shape.role() {
        Role::Second => opened.check(bench, 0, (bench.shape.peer(), 0)),
        _ => Ok(()),
    },
    report: |bench, outcome| {
        let program = bench.definition.program;
        bench.report(program, Some(outcome), Parameters::new())
    },
};

impl Opened {
    /// Opens a window of all ranks with this number of bytes of each.
    pub(super) fn new(bench: &mut Bench<'_>, bytes: usize) -> Result<Self> {
        Ok(Opened { window: bench.rank.open_window(bytes)?, events: 0 })
    }

    /// Fills this rank's memory with its block.
    pub(super) fn fill_own(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let (me, seed) = (bench.shape.me, bench.settings.seed);
        let mut block = Buffer::try_zeroed(bench.shape.size)?;
        fill(&mut block, seed, me, 0);
        self.window.put(bench.rank, me, 0, &block)
    }

    /// Returns this rank's memory from `offset` on.
    pub(super) fn own(
        &mut self,
        bench: &mut Bench<'_>,
        offset: usize,
        bytes: usize,
    ) -> Result<Buffer> {
        let mut found = Buffer::try_zeroed(bytes)?;
        self.window.get(bench.rank, bench.shape.me, offset as u64, &mut found)?;
        Ok(found)
    }

    /// Checks that this rank's memory contains the block of `origin` at `offset`.
    pub(super) fn check(
        &mut self,
        bench: &mut Bench<'_>,
        offset: usize,
        origin: (usize, usize),
    ) -> Result<()> {
        let found = self.own(bench, offset, bench.shape.size)?;
        check_block(&found, bench.settings.seed, origin, "the window", bench.shape.me)
    }

    pub(super) fn close(self, bench: &mut Bench<'_>) -> Result<()> {
        bench.rank.close_window(self.window)
    }
}
