//! Who sends what to whom: levels, blocks and pieces.
//!
//! Level 0 is the source, level `stages + 1` the sink, and the stages lie between. The ranks of a level share the rows of
//! its matrix, each a strip of successive ones, and receive their strip in *blocks* of `rows_per_message` rows. After a
//! corner turn a rank of the level before has a few columns of every block, so a block comes in as many *pieces* as that
//! level has ranks, a strip of columns each; otherwise in one.

use super::chain::{Chain, ELEMENT_BYTES};

/// One level of a chain, and its place among the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Its number: 0 for the source.
    pub(super) number: usize,
    /// Its first rank.
    pub(super) first: usize,
    /// How many ranks it has.
    pub(super) ranks: usize,
    /// Rows of its matrix.
    pub(super) rows: usize,
    /// Columns of its matrix.
    pub(super) columns: usize,
    /// Rows of a message.
    pub(super) block_rows: usize,
    /// Whether what it hands on is turned.
    pub(super) turns: bool,
}

impl Level {
    /// Rows of one rank.
    pub(super) fn strip(&self) -> usize {
        self.rows / self.ranks
    }

    /// Blocks of one rank in each matrix.
    pub(super) fn blocks(&self) -> usize {
        self.strip() / self.block_rows
    }

    /// Bytes of a block.
    pub(super) fn block_bytes(&self) -> usize {
        self.block_rows * self.columns * ELEMENT_BYTES
    }

    /// The rank that has the block that begins with `row`.
    fn owner(&self, row: usize) -> usize {
        self.first + row / self.strip()
    }
}

/// The levels of `chain`, source and sink included.
pub(super) fn levels(chain: &Chain) -> Vec<Level> {
    let (mut rows, mut columns) = (chain.rows, chain.columns);
    let block_rows = chain.rows_per_message;
    let mut first = 0;
    let ends = (1, false);
    let stages = chain.stages.iter().map(|stage| (stage.ranks, stage.turns()));
    let all = std::iter::once(ends).chain(stages).chain([ends]).enumerate();
    let level = |(number, (ranks, turns)): (usize, (usize, bool))| {
        let level = Level { number, first, ranks, rows, columns, block_rows, turns };
        first += ranks;
        if turns {
            std::mem::swap(&mut rows, &mut columns);
        }
        level
    };
    all.map(level).collect()
}

/// What a rank receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intake {
    /// For each block of a matrix in the order in which it is worked on, the ranks that send its pieces, from the left.
    pub(super) blocks: Vec<Vec<usize>>,
    /// Bytes of each piece.
    pub(super) piece_bytes: usize,
}

/// What a rank sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outlet {
    /// For each piece of a matrix in the order in which it is sent, the rank that gets it.
    pub(super) pieces: Vec<usize>,
    /// Bytes of each piece.
    pub(super) piece_bytes: usize,
    /// Rows and columns of each piece.
    pub(super) shape: (usize, usize),
}

/// What rank `index` of `to` receives from the level before.
pub(super) fn intake(from: &Level, to: &Level, index: usize) -> Intake {
    let pieces = if from.turns { from.ranks } else { 1 };
    let senders = |block: usize| match from.turns {
        true => (from.first..from.first + from.ranks).collect(),
        false => vec![from.owner(index * to.strip() + block * to.block_rows)],
    };
    Intake {
        blocks: (0..to.blocks()).map(senders).collect(),
        piece_bytes: to.block_bytes() / pieces,
    }
}

/// What rank `index` of `from` sends to the next level. A turned matrix, and the source's, go to all ranks of the next
/// level in turn, so that none waits for the others' share.
pub(super) fn outlet(from: &Level, to: &Level, index: usize) -> Outlet {
    let columns = if from.turns { from.strip() } else { to.columns };
    let pieces = match from.turns || from.number == 0 {
        true => (0..to.blocks()).flat_map(|_| to.first..to.first + to.ranks).collect(),
        false => {
            let row = |block: usize| index * from.strip() + block * from.block_rows;
            (0..from.blocks()).map(|block| to.owner(row(block))).collect()
        }
    };
    let shape = (to.block_rows, columns);
    Outlet { pieces, piece_bytes: shape.0 * shape.1 * ELEMENT_BYTES, shape }
}

/// The first row of piece `at` of what the level before `to` sends to all its ranks in turn.
pub(super) fn first_row(to: &Level, at: usize) -> usize {
    at % to.ranks * to.strip() + at / to.ranks * to.block_rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{Function, Stage};

    /// 8 x 4 elements in messages of two rows: two ranks that turn, then one, then two.
    fn chain() -> Chain {
        let stage = |functions: &[Function], ranks| Stage {
            name: String::new(),
            functions: functions.into(),
            ranks,
        };
        Chain {
            name: String::new(),
            file: String::new(),
            text: String::new(),
            title: String::new(),
            rows: 8,
            columns: 4,
            rows_per_message: 2,
            buffers: 2,
            overlap_sends: true,
            stages: vec![
                stage(&[Function::Fft, Function::CornerTurn], 2),
                stage(&[Function::Fft], 1),
                stage(&[], 2),
            ],
        }
    }

    #[test]
    fn a_turned_block_comes_in_a_piece_from_each_rank() {
        // Ranks: 0 source, 1-2 turn, 3 transforms, 4-5 hand on, 6 sink.
        let levels = levels(&chain());
        assert_eq!(levels.iter().map(|level| level.first).collect::<Vec<_>>(), [0, 1, 3, 4, 6]);
        // Ranks 1 and 2 each have 4 of 8 rows, so 4 of the 8 columns after the turn: pieces of 2 x 4 elements.
        let turned = outlet(&levels[1], &levels[2], 1);
        assert_eq!(turned, Outlet { pieces: vec![3, 3], piece_bytes: 64, shape: (2, 4) });
        let taken = intake(&levels[1], &levels[2], 0);
        assert_eq!(taken, Intake { blocks: vec![vec![1, 2]; 2], piece_bytes: 64 });
    }

    #[test]
    fn rows_go_to_the_rank_that_has_them() {
        let levels = levels(&chain());
        // Rank 3 has rows 0-3 of 4 x 8; rank 4 has rows 0-1, rank 5 rows 2-3.
        let rows = outlet(&levels[2], &levels[3], 0);
        assert_eq!(rows, Outlet { pieces: vec![4, 5], piece_bytes: 128, shape: (2, 8) });
        assert_eq!(intake(&levels[2], &levels[3], 1).blocks, [[3]]);
        assert_eq!(intake(&levels[3], &levels[4], 0).blocks, [[4], [5]]);
    }

    #[test]
    fn the_source_serves_all_ranks_in_turn() {
        let levels = levels(&chain());
        let source = outlet(&levels[0], &levels[1], 0);
        assert_eq!(source.pieces, [1, 2, 1, 2]);
        // Rank 1 has rows 0-3, rank 2 rows 4-7.
        let rows: Vec<_> = (0..4).map(|at| first_row(&levels[1], at)).collect();
        assert_eq!(rows, [0, 4, 2, 6]);
    }

    #[test]
    fn what_is_sent_is_what_is_received_on_every_edge() {
        let levels = levels(&chain());
        for pair in levels.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            for sender in 0..from.ranks {
                for receiver in 0..to.ranks {
                    let sent = outlet(from, to, sender);
                    let taken = intake(from, to, receiver);
                    assert_eq!(sent.piece_bytes, taken.piece_bytes);
                    let to_it = sent.pieces.iter().filter(|&&rank| rank == to.first + receiver);
                    let from_it = taken.blocks.iter().flatten();
                    let from_it = from_it.filter(|&&rank| rank == from.first + sender);
                    assert_eq!(to_it.count(), from_it.count(), "{sender} to {receiver}");
                }
            }
        }
    }
}
