//! The blocks and pieces that ranks send to each other, level by level.
//!
//! Level 0 is the source, level `stages + 1` the sink, and the stages are between. The ranks of a level share the rows
//! of its matrix, each a strip of successive ones, and receive their strip in *blocks* of `rows_per_message` rows.
//! After a corner turn a rank of the level before has a few columns of every block, so a block arrives in as many
//! *pieces* as that level has ranks, a strip of columns each; otherwise in one. A rank may be in several levels.

use pattern::corner_turn::Design;

use super::definition::{Chain, ELEMENT_BYTES, Stage};

/// One level of a chain, and its place among the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Number of the level: 0 for the source.
    pub(crate) number: usize,
    /// Its ranks, in the order of their rows.
    pub(crate) ranks: Vec<usize>,
    /// Number of rows of its matrix.
    pub(crate) rows: usize,
    /// Number of columns of its matrix.
    pub(crate) columns: usize,
    /// Number of columns of its result, before a turn.
    pub(crate) result_columns: usize,
    /// Number of rows of a message.
    pub(crate) block_rows: usize,
    /// True if its result is turned.
    pub(crate) turns: bool,
}

impl Level {
    /// Returns the number of rows of one rank.
    pub(crate) fn strip(&self) -> usize {
        self.rows / self.ranks.len()
    }

    /// Returns the number of blocks of one rank in each matrix.
    pub(crate) fn blocks(&self) -> usize {
        self.strip() / self.block_rows
    }

    /// Returns the number of bytes of a block.
    pub(crate) fn block_bytes(&self) -> usize {
        self.block_rows * self.columns * ELEMENT_BYTES
    }

    /// Returns the rank of the block that begins with `row`.
    fn owner(&self, row: usize) -> usize {
        self.ranks[row / self.strip()]
    }
}

/// Returns the levels of `chain`, source and sink included.
pub(crate) fn levels(chain: &Chain) -> Vec<Level> {
    let (mut rows, mut columns) = (chain.rows, chain.columns);
    let block_rows = chain.rows_per_message;
    let stages = std::iter::once(None).chain(chain.stages.iter().map(Some)).chain([None]);
    let level = |(number, (ranks, stage)): (usize, (&Vec<usize>, Option<&Stage>))| {
        let turns = stage.is_some_and(Stage::turns);
        // A chain with functions that do not fit its rows is refused when it is read.
        let result_columns =
            stage.map_or(columns, |stage| stage.result_columns(columns).unwrap_or(columns));
        let ranks = ranks.clone();
        let level = Level { number, ranks, rows, columns, result_columns, block_rows, turns };
        columns = result_columns;
        if turns {
            std::mem::swap(&mut rows, &mut columns);
        }
        level
    };
    chain.placed().zip(stages).enumerate().map(level).collect()
}

/// The names of the levels of `chain`, in their order.
pub(crate) fn level_names(chain: &Chain) -> Vec<String> {
    let stages = chain.stages.iter().map(|stage| stage.name.clone());
    std::iter::once("source".into()).chain(stages).chain(["sink".into()]).collect()
}

/// The blocks that a rank receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Intake {
    /// Ranks that send the pieces of each block of a matrix, from the left, in the order in which blocks are processed.
    pub(crate) blocks: Vec<Vec<usize>>,
    /// Number of bytes of each piece.
    pub(crate) piece_bytes: usize,
}

/// The blocks that a rank sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outlet {
    /// Pieces of a matrix in the order in which they are sent.
    pub(crate) pieces: Vec<Piece>,
    /// Number of bytes of each piece.
    pub(crate) piece_bytes: usize,
    /// Numbers of rows and columns of each piece.
    pub(crate) shape: (usize, usize),
    /// First column of a piece in the receiver's block.
    pub(crate) first_column: usize,
}

/// One piece that a rank sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Rank that receives it.
    pub(crate) to: usize,
    /// Its first row in the matrix of the level that receives it.
    pub(crate) row: usize,
}

/// Returns the blocks that rank `index` of `to` receives from the previous level.
pub(crate) fn intake(from: &Level, to: &Level, index: usize) -> Intake {
    let pieces = if from.turns { from.ranks.len() } else { 1 };
    let senders = |block: usize| match from.turns {
        true => from.ranks.clone(),
        false => vec![from.owner(index * to.strip() + block * to.block_rows)],
    };
    Intake {
        blocks: (0..to.blocks()).map(senders).collect(),
        piece_bytes: to.block_bytes() / pieces,
    }
}

/// Returns the turn of each rank of `to` in the sends of rank `index` of `from`. Ranks that turn corners among
/// themselves use the published pattern. In each of its stages a rank sends or receives one message, so not all send to
/// one at once.
fn order_of_receivers(from: &Level, to: &Level, index: usize) -> Vec<usize> {
    let count = to.ranks.len();
    let among_themselves = from.turns && from.ranks == to.ranks;
    let Some(schedule) =
        among_themselves.then(|| Design::Recursive.schedule(count)).and_then(Result::ok)
    else {
        return (0..count).collect();
    };
    // A rank's own rows need no message, and come first.
    let mut order = vec![0; count];
    let sends = schedule.stages().iter().flatten().filter(|(sender, _)| *sender == index);
    sends.enumerate().for_each(|(turn, (_, receiver))| order[*receiver] = turn + 1);
    order
}

/// Returns the blocks that rank `index` of `from` sends to the next level: for a turned matrix a part of every block,
/// else the blocks of its own rows. A turned matrix, and the source's, is sent to the ranks of the next level in turn,
/// so that none waits for the parts of the others.
pub(crate) fn outlet(from: &Level, to: &Level, index: usize) -> Outlet {
    let (columns, first_column) = match from.turns {
        true => (from.strip(), index * from.strip()),
        false => (to.columns, 0),
    };
    let own = index * from.strip()..(index + 1) * from.strip();
    let rows = (0..to.rows).step_by(to.block_rows);
    let mut rows: Vec<usize> = rows.filter(|row| from.turns || own.contains(row)).collect();
    if from.turns || from.number == 0 {
        let turn_of = order_of_receivers(from, to, index);
        rows.sort_by_key(|row| (row % to.strip(), turn_of[row / to.strip()]));
    }
    let pieces = rows.into_iter().map(|row| Piece { to: to.owner(row), row }).collect();
    let shape = (to.block_rows, columns);
    Outlet { pieces, piece_bytes: shape.0 * shape.1 * ELEMENT_BYTES, shape, first_column }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage_functions::Function;

    const FFT: Function = Function::FFT;
    const TURN: Function = Function::CORNER_TURN;

    /// Returns a chain of 8 x 4 elements in messages of two rows: two ranks that turn, then one, then two.
    fn chain() -> Chain {
        Chain::of((8, 4, 2), &[(&[FFT, TURN], 2), (&[FFT], 1), (&[], 2)])
    }

    /// As [`chain`], on two ranks, each with half of every level.
    fn shared() -> Chain {
        let mut chain = chain();
        (chain.source, chain.sink) = (vec![0, 1], vec![0, 1]);
        chain.stages.iter_mut().for_each(|stage| stage.on = vec![0, 1]);
        chain
    }

    fn pieces(pieces: &[(usize, usize)]) -> Vec<Piece> {
        pieces.iter().map(|&(to, row)| Piece { to, row }).collect()
    }

    #[test]
    fn a_turned_block_comes_in_a_piece_from_each_rank() {
        // Ranks: 0 source, 1-2 turn, 3 transforms, 4-5 pass on, 6 sink.
        let levels = levels(&chain());
        let ranks: Vec<_> = levels.iter().map(|level| level.ranks.clone()).collect();
        assert_eq!(ranks, [vec![0], vec![1, 2], vec![3], vec![4, 5], vec![6]]);
        // Ranks 1 and 2 each have 4 of 8 rows, so 4 of the 8 columns after the turn: pieces of 2 x 4 elements.
        let turned = outlet(&levels[1], &levels[2], 1);
        let to_3 = pieces(&[(3, 0), (3, 2)]);
        let expected = Outlet { pieces: to_3, piece_bytes: 64, shape: (2, 4), first_column: 4 };
        assert_eq!(turned, expected);
        let taken = intake(&levels[1], &levels[2], 0);
        assert_eq!(taken, Intake { blocks: vec![vec![1, 2]; 2], piece_bytes: 64 });
    }

    #[test]
    fn rows_go_to_the_rank_that_has_them() {
        let levels = levels(&chain());
        // Rank 3 has rows 0-3 of 4 x 8; rank 4 has rows 0-1, rank 5 rows 2-3.
        let rows = outlet(&levels[2], &levels[3], 0);
        assert_eq!(rows.pieces, pieces(&[(4, 0), (5, 2)]));
        assert_eq!((rows.piece_bytes, rows.shape, rows.first_column), (128, (2, 8), 0));
        assert_eq!(intake(&levels[2], &levels[3], 1).blocks, [[3]]);
        assert_eq!(intake(&levels[3], &levels[4], 0).blocks, [[4], [5]]);
    }

    #[test]
    fn the_source_serves_all_ranks_in_turn() {
        let levels = levels(&chain());
        let source = outlet(&levels[0], &levels[1], 0);
        // Rank 1 has rows 0-3, rank 2 rows 4-7.
        assert_eq!(source.pieces, pieces(&[(1, 0), (2, 4), (1, 2), (2, 6)]));
    }

    #[test]
    fn only_turned_pieces_leave_a_rank_that_has_a_share_of_every_stage() {
        let levels = levels(&shared());
        let leaves = |level: usize, index: usize| {
            let outlet = outlet(&levels[level], &levels[level + 1], index);
            outlet.pieces.iter().any(|piece| piece.to != index)
        };
        for index in 0..2 {
            assert_eq!([0, 1, 2, 3].map(|level| leaves(level, index)), [false, true, false, false]);
        }
    }

    #[test]
    fn four_ranks_that_turn_among_themselves_go_by_the_published_pattern() {
        let mut chain = Chain::of((8, 8, 1), &[(&[TURN], 4), (&[], 4)]);
        (chain.stages[1].on, chain.sink) = (chain.stages[0].on.clone(), vec![5]);
        let levels = levels(&chain);
        let first_receivers = |index: usize| -> Vec<usize> {
            let outlet = outlet(&levels[1], &levels[2], index);
            outlet.pieces[..4].iter().map(|piece| piece.to - 1).collect()
        };
        // quad(0, 2), then swap(0, 1) and swap(2, 3): figure 4.7 of the paper, where rank 0 sends to 3, 2 and 1.
        assert_eq!(first_receivers(0), [0, 3, 2, 1]);
        assert_eq!(first_receivers(3)[0], 3);
        assert_ne!(first_receivers(1)[1], first_receivers(2)[1]);
    }

    #[test]
    fn what_is_sent_is_what_is_received_on_every_edge() {
        for levels in [levels(&chain()), levels(&shared())] {
            for pair in levels.windows(2) {
                let (from, to) = (&pair[0], &pair[1]);
                for (sender, sending) in from.ranks.iter().enumerate() {
                    for (receiver, receiving) in to.ranks.iter().enumerate() {
                        let sent = outlet(from, to, sender);
                        let taken = intake(from, to, receiver);
                        assert_eq!(sent.piece_bytes, taken.piece_bytes);
                        let to_it = sent.pieces.iter().filter(|piece| piece.to == *receiving);
                        let from_it = taken.blocks.iter().flatten();
                        let from_it = from_it.filter(|&rank| rank == sending);
                        assert_eq!(to_it.count(), from_it.count(), "{sender} to {receiver}");
                    }
                }
            }
        }
    }
}
