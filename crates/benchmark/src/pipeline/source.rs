//! The source: injects a matrix each period, as far as the first stage asks for it.

use contract::{Buffer, Rank, Result};
use kernels::Complex32;

use super::chain::Chain;
use super::expected::{MATRICES, input};
use super::geometry::{Level, first_row, outlet};
use super::outgoing::Outgoing;
use super::stamps::Stamps;
use super::waiting::{Place, Purpose, Waiting};
use crate::period::{Deadlines, Trial};

/// The rank of the source.
pub(super) struct SourceRank {
    /// For each of the different matrices its messages.
    matrices: Vec<Vec<Buffer>>,
    outgoing: Outgoing,
    waiting: Waiting,
}

impl SourceRank {
    pub(super) fn new(chain: &Chain, levels: &[Level], seed: u64) -> Result<Self> {
        let (source, to) = (&levels[0], &levels[1]);
        let outlet = outlet(source, to, 0);
        let message = |matrix: &[Complex32], at: usize| {
            let mut buffer = Buffer::try_zeroed(outlet.piece_bytes)?;
            let elements = buffer.elements_mut::<Complex32>();
            let first = first_row(to, at) * to.columns;
            elements.copy_from_slice(&matrix[first..first + elements.len()]);
            Ok(buffer)
        };
        let messages = |which: usize| {
            let matrix = input(chain, seed, which);
            (0..outlet.pieces.len()).map(|at| message(&matrix, at)).collect()
        };
        let matrices = (0..MATRICES).map(messages).collect::<Result<_>>()?;
        let outgoing = Outgoing::new(outlet, 1);
        let mut waiting = Waiting::default();
        waiting.reserve(outgoing.operations_max());
        Ok(SourceRank { matrices, outgoing, waiting })
    }

    /// Injects the matrices of a trial: all messages of one from the beginning of its period on, each when it is asked for.
    /// The matrix is missed when its last message has not been taken by the end of the period.
    pub(super) fn keep_up(
        &mut self,
        rank: &mut dyn Rank,
        trial: &Trial,
        deadlines: &mut Deadlines,
        stamps: &mut Stamps,
    ) -> Result<()> {
        self.outgoing.begin(trial.instances);
        for matrix in 0..trial.instances {
            let which = matrix as usize % MATRICES;
            rank.wait_until(trial.start(matrix));
            for at in 0..self.matrices[which].len() {
                let buffer = std::mem::replace(&mut self.matrices[which][at], Buffer::zeroed(0));
                self.outgoing.push(at, Place::Slot(at), buffer);
                let buffer = self.send(rank)?;
                self.matrices[which][at] = buffer;
            }
            let end = rank.now();
            stamps.ended(matrix, end);
            deadlines.ended(matrix, 0, end);
        }
        Ok(())
    }

    /// Sends what is queued once it is asked for; gives its buffer back.
    fn send(&mut self, rank: &mut dyn Rank) -> Result<Buffer> {
        loop {
            self.outgoing.advance(rank, &mut self.waiting)?;
            match self.waiting.next(rank)? {
                (Purpose::Sent(_), buffer) => {
                    self.outgoing.sent();
                    return Ok(buffer);
                }
                (Purpose::Request { from }, empty) => self.outgoing.asked(from, empty),
                (Purpose::Piece { .. }, _) => unreachable!("a source receives no pieces"),
            }
        }
    }
}
