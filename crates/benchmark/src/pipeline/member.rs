//! A rank of a chain, whatever it is in it.

use contract::{Rank, Result, Work, WorkKind};

use super::Mode;
use super::chain::Chain;
use super::geometry::levels;
use super::sink::SinkRank;
use super::source::SourceRank;
use super::stage::StageRank;
use super::stamps::{AllStamps, Stamps};
use crate::period::{Deadlines, Trial};

enum Kind {
    Source(SourceRank),
    Stage(Box<StageRank>),
    Sink(SinkRank),
}

/// This rank's part of a chain, with all memory that it needs.
pub(crate) struct Member {
    kind: Kind,
    stamps: Stamps,
}

impl Member {
    /// The part of `rank` in `chain`, which must have as many ranks as there are, run as `mode` says or without functions
    /// or messages.
    ///
    /// # Errors
    /// [`contract::Error::OutOfMemory`] for buffers.
    pub(crate) fn new(chain: &Chain, mode: Mode, seed: u64, rank: &mut dyn Rank) -> Result<Self> {
        let levels = levels(chain);
        let me = rank.rank();
        let computes = computes(rank);
        let kind = match me {
            0 => Kind::Source(SourceRank::new(chain, &levels, seed)?),
            _ if me + 1 == chain.ranks() => {
                Kind::Sink(SinkRank::new(chain, &levels, seed, computes)?)
            }
            _ => {
                let level = levels.iter().rposition(|level| level.first <= me).unwrap_or(0);
                let stage = &chain.stages[level - 1];
                // A stage that waits for its turn must have room for all that comes meanwhile.
                let waiting = if mode == Mode::Synchronised { levels[level].blocks() } else { 0 };
                let slots = chain.buffers + waiting;
                Kind::Stage(Box::new(StageRank::new(
                    stage,
                    &levels[level - 1..],
                    slots,
                    chain,
                    me,
                )?))
            }
        };
        Ok(Member { kind, stamps: Stamps::new()? })
    }

    /// Keeps up a trial.
    ///
    /// # Errors
    /// Any error of the contract, and wrong results at the sink.
    pub(crate) fn keep_up(
        &mut self,
        mode: Mode,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
    ) -> Result<()> {
        let stamps = &mut self.stamps;
        stamps.begin();
        let alone = mode == Mode::FunctionsOnly;
        match &mut self.kind {
            Kind::Stage(stage) if alone => stage.work_alone(rank, trial, deadlines, stamps),
            Kind::Stage(stage) => stage.keep_up(rank, trial, deadlines, mode, stamps),
            Kind::Source(_) | Kind::Sink(_) if alone => Ok(()),
            Kind::Source(source) => source.keep_up(rank, trial, deadlines, stamps),
            Kind::Sink(sink) => {
                sink.keep_up(rank, trial, deadlines, mode != Mode::MessagesOnly, stamps)
            }
        }
    }

    /// Brings what all ranks noted of the last trial's first `matrices` to rank 0.
    pub(crate) fn bring_stamps(&self, rank: &mut dyn Rank, matrices: u64) -> Result<AllStamps> {
        self.stamps.bring(rank, matrices)
    }

    /// To be called before trials without messages.
    pub(crate) fn clear(&mut self) {
        if let Kind::Stage(stage) = &mut self.kind {
            stage.clear();
        }
    }
}

/// Whether this machine really computes; a simulated one may only let the time pass.
fn computes(rank: &mut dyn Rank) -> bool {
    let mut computes = false;
    rank.compute(Work::new(WorkKind::FloatingPoint, 0), &mut || computes = true);
    computes
}
