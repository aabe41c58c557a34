//! The segment of a model: in ordinary memory, which the ranks share as threads.

use launcher::Seat;

use super::{Header, RankBlock, Segment, room};
use crate::board::Board;
use crate::primitive::{Fresh, watch, watch_nothing};
use crate::ring::{Cell, Credit, LINE_BYTES};

impl Segment {
    /// Begins an execution: creates the segment of ranks that have joined and that are bound to these processors, or to
    /// none. Returns a handle for each rank.
    pub(crate) fn of_model(
        processors: &[Option<u32>],
        every_rank_has_a_processor: bool,
    ) -> Vec<Segment> {
        watch_nothing();
        let room = room(processors.len());
        let seats = Seat::of_model(processors, every_rank_has_a_processor, room);
        let segments: Vec<Segment> = seats
            .into_iter()
            .map(|seat| Segment::of(seat).unwrap_or_else(|error| panic!("{error}")))
            .collect();
        segments[0].begin();
        segments
    }

    /// Writes everything as it is in memory that was just mapped.
    fn begin(&self) {
        let ranks = 0..self.seat.size();
        // SAFETY: the layout has each of them there, and nobody uses the memory yet.
        unsafe {
            self.base.cast::<Header>().write(Fresh::fresh());
            for rank in ranks.clone() {
                let block = self.base.add(self.layout.block_offset(rank));
                block.cast::<RankBlock>().write(Fresh::fresh());
                let board = self.board(rank).cast_mut();
                board.write(Board::fresh());
                (*board).watch();
            }
            for (sender, receiver) in
                ranks.clone().flat_map(|rank| ranks.clone().map(move |to| (rank, to)))
            {
                let ring = self.ring(sender, receiver);
                ring.credit.cast_mut().write(Credit::fresh());
                for cell in 0..ring.cell_count as usize {
                    ring.cells.cast_mut().add(cell).write(Cell::fresh());
                }
                watch(ring.lines.start, ring.lines.line_count as usize * LINE_BYTES);
            }
        }
    }
}
