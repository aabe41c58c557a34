//! The source: injects a matrix each period, as fast as the first stage requests it.

use contract::{Buffer, Result};
use kernels::Complex32;

use super::expected::{MATRICES, input};
use super::flow::{Flow, Readiness};
use super::outgoing::Outgoing;
use super::pending::{Arrived, BufferPlace, Purpose};
use crate::chain::Chain;
use crate::chain::{Level, Piece, outlet};
use crate::period::Trial;

/// A rank's part of the source.
pub(super) struct SourcePart {
    /// Messages of each of the different matrices.
    matrices: Vec<Vec<Buffer>>,
    outgoing: Outgoing,
    /// The current matrix, the number of matrices, and the number of messages that have been taken.
    matrix: u64,
    of: u64,
    taken: usize,
    under_way: bool,
}

impl SourcePart {
    pub(super) fn new(chain: &Chain, levels: &[Level], me: usize, seed: u64) -> Result<Self> {
        let (source, to) = (&levels[0], &levels[1]);
        let index = source.ranks.iter().position(|&rank| rank == me).unwrap_or(0);
        let outlet = outlet(source, to, index);
        let message = |matrix: &[Complex32], piece: &Piece| {
            let mut buffer = Buffer::try_zeroed(outlet.piece_bytes)?;
            let elements = buffer.elements_mut::<Complex32>();
            let first = piece.row * to.columns;
            elements.copy_from_slice(&matrix[first..first + elements.len()]);
            Ok(buffer)
        };
        let messages = |which: usize| {
            let matrix = input(chain, seed, which);
            outlet.pieces.iter().map(|piece| message(&matrix, piece)).collect()
        };
        let matrices = (0..MATRICES).map(messages).collect::<Result<_>>()?;
        let outgoing = Outgoing::new(0, me, outlet, 1).keeping();
        Ok(SourcePart { matrices, outgoing, matrix: 0, of: 0, taken: 0, under_way: false })
    }

    /// Returns the number of operations that can be in progress at once.
    pub(super) fn operations_max(&self) -> usize {
        self.outgoing.operations_max()
    }

    pub(super) fn begin(&mut self, matrices: u64) {
        self.outgoing.begin(matrices);
        (self.matrix, self.of, self.taken) = (0, matrices, 0);
    }

    /// Sends the message in progress once it is requested.
    pub(super) fn prepare(&mut self, flow: &mut Flow<'_>) -> Result<()> {
        match self.under_way {
            true => self.outgoing.advance(flow.rank, flow.waiting, flow.swaps),
            false => Ok(()),
        }
    }

    pub(super) fn readiness(&self, trial: &Trial) -> Readiness {
        match self.under_way || self.matrix == self.of {
            true => Readiness::No,
            false if self.taken == 0 => Readiness::At(trial.start(self.matrix)),
            false => Readiness::Now,
        }
    }

    /// Injects the next message, from the beginning of the matrix's period on, or ends the matrix. A matrix is missed
    /// if its last message has not been taken by the end of the period.
    pub(super) fn step(&mut self, flow: &mut Flow<'_>) {
        let messages = &mut self.matrices[self.matrix as usize % MATRICES];
        if self.taken == messages.len() {
            let end = flow.rank.now();
            flow.stamps.ended(0, self.matrix, end);
            flow.deadlines.judged(self.matrix, 0, end);
            (self.matrix, self.taken) = (self.matrix + 1, 0);
            return;
        }
        let at = self.taken;
        // The empty buffer has no memory, so this allocates nothing.
        let buffer = std::mem::replace(&mut messages[at], Buffer::zeroed(0));
        self.outgoing.push(at, BufferPlace::Slot(at), buffer);
        self.under_way = true;
    }

    pub(super) fn take(&mut self, purpose: Purpose, came: Arrived) {
        match purpose {
            Purpose::Request { from } => self.outgoing.take_request(from, came.buffer()),
            Purpose::Sent(_) => {
                self.outgoing.sent();
                self.matrices[self.matrix as usize % MATRICES][self.taken] = came.buffer();
                (self.taken, self.under_way) = (self.taken + 1, false);
            }
            _ => unreachable!("a source receives no pieces"),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.matrix == self.of
    }
}
