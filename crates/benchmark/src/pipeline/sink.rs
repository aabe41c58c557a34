//! The sink: takes the results, checks them, and notes when they came.

use contract::{Rank, Result, TimeSpan};
use kernels::Complex32;

use super::chain::Chain;
use super::expected::Expected;
use super::geometry::{Level, intake};
use super::inlet::Inlet;
use super::stamps::Stamps;
use super::waiting::{Purpose, Waiting};
use crate::period::{Deadlines, Trial};

/// The first results of a trial show how long a matrix is under way while the chain is full.
const SETTLING: u64 = 8;

/// The rank of the sink.
pub(super) struct SinkRank {
    level: Level,
    inlet: Inlet,
    waiting: Waiting,
    expected: Option<Expected>,
}

impl SinkRank {
    /// `checks`: whether the functions of the chain are really computed, so that the results can be checked.
    pub(super) fn new(chain: &Chain, levels: &[Level], seed: u64, checks: bool) -> Result<Self> {
        let [.., from, level] = levels else { unreachable!("a chain has a source and a sink") };
        let inlet = Inlet::new(intake(from, level, 0), level, chain.buffers)?;
        let mut waiting = Waiting::default();
        waiting.reserve(inlet.operations_max());
        let expected = checks.then(|| Expected::new(chain, seed, level.columns));
        Ok(SinkRank { level: level.clone(), inlet, waiting, expected })
    }

    /// Takes the results of a trial; checks a few elements of each, and all of the last one.
    ///
    /// A result is missed when it is more than a period later than the latest of the first few: then the chain falls
    /// behind the source, which the source itself would see only when all buffers in between are full.
    pub(super) fn keep_up(
        &mut self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        checks: bool,
        stamps: &mut Stamps,
    ) -> Result<()> {
        let blocks = self.inlet.blocks() as u64;
        let mut settled = TimeSpan::ZERO;
        self.inlet.begin(trial.instances);
        for block in 0..trial.instances * blocks {
            let slot = self.wait_for(rank, block)?;
            let (matrix, number) = (block / blocks, (block % blocks) as usize);
            let is_last = number as u64 + 1 == blocks;
            let came = rank.now();
            if checks && let Some(expected) = &self.expected {
                let elements = self.inlet.whole(slot).elements::<Complex32>();
                let all = matrix + 1 == trial.instances;
                expected.check(elements, matrix, number * self.level.block_rows, all)?;
            }
            self.inlet.free(slot);
            if is_last {
                stamps.ended(matrix, came);
                let latency = came.since(trial.start(matrix));
                if trial.period == TimeSpan::ZERO {
                    deadlines.ended(matrix, self.level.number as u64, came);
                } else if matrix < SETTLING {
                    settled = settled.max(latency);
                } else {
                    let late = latency.as_ps().saturating_sub(settled.as_ps());
                    let at = trial.start(matrix) + TimeSpan::from_ps(late);
                    deadlines.ended(matrix, self.level.number as u64, at);
                }
            }
        }
        Ok(())
    }

    fn wait_for(&mut self, rank: &mut dyn Rank, block: u64) -> Result<usize> {
        loop {
            self.inlet.post(rank, &mut self.waiting)?;
            if let Some(slot) = self.inlet.complete(block) {
                return Ok(slot);
            }
            match self.waiting.next(rank)? {
                (Purpose::Piece { slot, piece }, buffer) => self.inlet.take(slot, piece, buffer),
                _ => unreachable!("a sink sends nothing"),
            }
        }
    }
}
