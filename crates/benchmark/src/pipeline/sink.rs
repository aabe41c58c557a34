//! The sink: receives the results, checks them, and records their arrival.

use contract::{Result, TimeSpan};
use kernels::Complex32;

use super::detection::Detection;
use super::expected::Expected;
use super::flow::{Flow, Readiness};
use super::inlet::Inlet;
use super::mode::Mode;
use super::pending::{Arrived, Purpose};
use super::trend::Trend;
use crate::chain::Chain;
use crate::chain::{Level, intake};
use crate::period::PERIODS_PER_WAITING;

/// Number of first results of a trial, which show the latency of a matrix while the chain is full.
pub(crate) const SETTLING: u64 = 8;

/// A rank's part of the sink.
pub(super) struct SinkPart {
    level: Level,
    /// First row of this rank.
    first_row: usize,
    inlet: Inlet,
    expected: Option<Expected>,
    pub(super) detection: Option<Box<Detection>>,
    /// Number of blocks of the trial that have arrived, and of all.
    block: u64,
    of: u64,
    /// Longest latency of the first results.
    settled: TimeSpan,
    trend: Trend,
}

impl SinkPart {
    /// Creates the part. `checks` is true if the functions of the chain are really computed, so that the results can be
    /// checked.
    pub(super) fn new(
        chain: &Chain,
        levels: &[Level],
        me: usize,
        seed: u64,
        checks: bool,
    ) -> Result<Self> {
        let [.., from, level] = levels else { unreachable!("a chain has a source and a sink") };
        let index = level.ranks.iter().position(|&rank| rank == me).unwrap_or(0);
        let inlet = Inlet::new(intake(from, level, index), level, me, (chain.buffers, 0))?;
        let expected = checks.then(|| Expected::new(chain, seed, level.columns));
        let first_row = index * level.strip();
        let detection = Detection::new(chain, first_row, level.strip(), level.columns);
        let detection = detection.filter(|_| checks).map(Box::new);
        let (level, settled, trend) = (level.clone(), TimeSpan::ZERO, Trend::default());
        let (block, of) = (0, 0);
        Ok(SinkPart { level, first_row, inlet, expected, detection, block, of, settled, trend })
    }

    /// Returns the number of operations that can be in progress at once.
    pub(super) fn operations_max(&self) -> usize {
        self.inlet.operations_max()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        self.inlet.begin(matrices);
        (self.block, self.of) = (0, matrices * self.inlet.blocks() as u64);
        self.settled = TimeSpan::ZERO;
        self.trend.begin(matrices);
    }

    pub(super) fn prepare(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        self.inlet.post(flow.rank, flow.waiting, flow.swaps)
    }

    pub(super) fn readiness(&self) -> Readiness {
        match self.block < self.of && self.inlet.complete(self.block).is_some() {
            true => Readiness::Now,
            false => Readiness::No,
        }
    }

    /// Takes the next block of results. It checks a few of its elements, and all elements in the last matrix of a
    /// trial.
    pub(super) fn step(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        let Some(slot) = self.inlet.complete(self.block) else { return Ok(()) };
        let blocks = self.inlet.blocks() as u64;
        let (matrix, number) = (self.block / blocks, (self.block % blocks) as usize);
        self.inlet.bring(flow.rank, slot)?;
        let came = flow.rank.now();
        if flow.mode != Mode::MessagesOnly
            && let Some(expected) = &self.expected
        {
            let elements = self.inlet.whole(slot).elements::<Complex32>();
            let all = matrix + 1 == flow.trial.instances;
            let row = self.first_row + number * self.level.block_rows;
            expected.check(elements, matrix, row, all)?;
            if let Some(detection) = self.detection.as_mut().filter(|_| all) {
                detection.take(row, elements);
            }
        }
        self.inlet.free(slot);
        self.block += 1;
        let is_last = self.block == self.of && flow.mode != Mode::MessagesOnly;
        if let Some(detection) = self.detection.as_mut().filter(|_| is_last) {
            detection.judge(matrix)?;
        }
        if self.block.is_multiple_of(blocks) {
            flow.stamps.ended(self.level.number, matrix, came);
            self.judge(flow, matrix, came.since(flow.trial.start(matrix)));
        }
        Ok(())
    }

    /// Records the result of a matrix. It is missed if it is more than a period later than the latest of the first few.
    /// The chain then falls behind the source, which the source itself would detect only when all buffers in between
    /// are full. If results are later and later, those of the trial's second half are missed, too.
    fn judge(&mut self, flow: &mut Flow<'_>, matrix: u64, latency: TimeSpan) {
        let (trial, stage) = (flow.trial, self.level.number as u64);
        let allowed = flow.deadlines.allowed();
        let came = trial.start(matrix) + latency;
        flow.deadlines.delivered((matrix, matrix), stage, came);
        let mut ended = |matrix, at| flow.deadlines.judged(matrix, stage, at);
        if trial.period == TimeSpan::ZERO {
            ended(matrix, came);
            return;
        }
        if matrix < SETTLING {
            self.settled = self.settled.max(latency);
        } else {
            ended(matrix, trial.start(matrix) + (latency - self.settled));
        }
        self.trend.note(matrix, latency);
        // In a trial that is short compared with the queue at the source, a delay by a pause cannot be distinguished
        // from falling behind.
        let is_long = trial.period.times(trial.instances) >= allowed.times(PERIODS_PER_WAITING);
        if matrix + 1 == trial.instances
            && is_long
            && let Some((matrices, late)) = self.trend.behind(trial.period)
        {
            matrices.for_each(|matrix| ended(matrix, trial.deadline(matrix) + allowed + late));
        }
    }

    pub(super) fn take(&mut self, purpose: Purpose, came: Arrived) {
        match purpose {
            Purpose::Piece { slot, piece } => self.inlet.take(slot, piece, came),
            _ => unreachable!("a sink sends nothing"),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.block == self.of
    }
}
