//! One rank's part of the corner turn.

use contract::{Buffer, Error, Posted, Rank, Result, Source, Work, WorkKind};
use kernels::corner_turn;
use pattern::corner_turn::Schedule;

use super::matrix::{Matrix, MatrixElement};
use crate::programs::common::{ITS_TAG, TAG};

/// The action of a rank in a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BlockMove {
    SendTo(usize),
    ReceiveFrom(usize),
}

/// One rank's part of the matrix. A receive for the block of each other rank is always posted.
pub(super) struct MatrixPart<'a, T> {
    matrix: &'a Matrix<T>,
    me: usize,
    moves: Vec<BlockMove>,
    /// Rows of this rank: those of even turns and those of odd ones, so that remains of one turn are wrong in the next.
    inputs: [Buffer; 2],
    /// Rows turned in memory: the block for rank q is the q-th piece.
    outgoing: Buffer,
    /// Block from each rank, before it is put in place; this rank's own stays empty.
    incoming: Vec<Buffer>,
    posted: Vec<Option<Posted>>,
    /// Columns of this rank afterwards.
    output: Buffer,
    /// Number of turns made.
    made: u64,
    /// True if the elements were really moved: a simulated machine may only let the time pass.
    moved: bool,
}

impl<'a, T: MatrixElement> MatrixPart<'a, T> {
    pub(super) fn new(matrix: &'a Matrix<T>, schedule: &Schedule, me: usize) -> Result<Self> {
        let turn = |stage: &Vec<(usize, usize)>| {
            stage.iter().find_map(|&(from, to)| match () {
                () if from == me => Some(BlockMove::SendTo(to)),
                () if to == me => Some(BlockMove::ReceiveFrom(from)),
                () => None,
            })
        };
        let bytes = |rank: usize| if rank == me { 0 } else { matrix.block_bytes() };
        let incoming = (0..matrix.ranks()).map(|rank| Buffer::try_zeroed(bytes(rank)));
        Ok(MatrixPart {
            matrix,
            me,
            moves: schedule.stages().iter().filter_map(turn).collect(),
            inputs: [matrix.rows_of(me, 0)?, matrix.rows_of(me, 1)?],
            outgoing: Buffer::try_zeroed(matrix.part_bytes())?,
            incoming: incoming.collect::<Result<_>>()?,
            posted: (0..matrix.ranks()).map(|_| None).collect(),
            output: Buffer::try_zeroed(matrix.part_bytes())?,
            made: 0,
            moved: false,
        })
    }

    /// Posts the receives of the first turn.
    pub(super) fn begin(&mut self, rank: &mut dyn Rank) -> Result<()> {
        for from in (0..self.matrix.ranks()).filter(|&from| from != self.me) {
            let buffer = std::mem::replace(&mut self.incoming[from], Buffer::zeroed(0));
            self.posted[from] = Some(rank.post_receive(Source::Rank(from), ITS_TAG, buffer)?);
        }
        Ok(())
    }

    /// Turns the matrix once.
    pub(super) fn turn(&mut self, rank: &mut dyn Rank) -> Result<()> {
        self.turn_in_memory(rank)?;
        for index in 0..self.moves.len() {
            match self.moves[index] {
                BlockMove::SendTo(to) => {
                    let bytes = self.matrix.block_bytes();
                    rank.send(to, TAG, &self.outgoing[to * bytes..][..bytes])?;
                }
                BlockMove::ReceiveFrom(from) => self.incoming[from] = self.receive(rank, from)?,
            }
        }
        self.put_in_place(rank);
        self.made += 1;
        self.begin(rank)
    }

    fn receive(&mut self, rank: &mut dyn Rank, from: usize) -> Result<Buffer> {
        match self.posted[from].take() {
            Some(posted) => Ok(rank.wait(posted)?.buffer),
            None => Err(Error::Program(format!("no receive is posted for rank {from}"))),
        }
    }

    /// Turns the rows in memory. Afterwards the data for every rank are in one piece, as rows of its future columns.
    fn turn_in_memory(&mut self, rank: &mut dyn Rank) -> Result<()> {
        let (rows, columns) = (self.matrix.block().0, self.matrix.size().1);
        let input = self.inputs[(self.made % 2) as usize].elements::<T>();
        let output = self.outgoing.elements_mut::<T>();
        let work = Work::new(WorkKind::CornerTurnBytes, self.matrix.part_bytes() as u64);
        let mut turned = Ok(());
        rank.compute(work, &mut || turned = corner_turn(input, rows, columns, output));
        turned.map_err(|error| Error::Program(error.to_string()))
    }

    /// Copies each block to its place: its rows become parts of the rows of the result.
    fn put_in_place(&mut self, rank: &mut dyn Rank) {
        let (width, rows) = self.matrix.block();
        let all_rows = self.matrix.size().0;
        let (me, bytes) = (self.me, self.matrix.block_bytes());
        let own = &self.outgoing[me * bytes..][..bytes];
        let output = self.output.elements_mut::<T>();
        let incoming = &self.incoming;
        let moved = &mut self.moved;
        let work = Work::new(WorkKind::CopyBytes, self.matrix.part_bytes() as u64);
        rank.compute(work, &mut || {
            *moved = true;
            for (from, block) in incoming.iter().enumerate() {
                let block: &[u8] = if from == me { own } else { block };
                let block: &[T] = bytemuck::cast_slice(block);
                for row in 0..rows {
                    let place = row * all_rows + from * width;
                    output[place..][..width].copy_from_slice(&block[row * width..][..width]);
                }
            }
        });
    }

    /// Takes back the posted receives, and checks every element of the last turn. Called once, when every rank has
    /// ended its last turn.
    pub(super) fn finish(mut self, rank: &mut dyn Rank) -> Result<()> {
        let me = self.me;
        let others = (0..self.matrix.ranks()).filter(|&other| other != me);
        for other in others.clone() {
            rank.send(other, TAG, &[])?;
        }
        for other in others {
            drop(self.receive(rank, other)?);
        }
        match self.made {
            made if made > 0 && self.moved => {
                self.matrix.check(&self.output, self.me, (made - 1) % 2)
            }
            _ => Ok(()),
        }
    }
}
