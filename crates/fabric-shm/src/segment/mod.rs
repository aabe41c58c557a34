//! What the ranks of this fabric share, in the room that the launcher has reserved for it: its contents, and where each
//! thing lies.

mod call;
mod header;
mod help;
#[cfg(all(test, loom))]
mod in_model;
#[cfg(all(test, not(loom)))]
mod in_threads;
mod layout;

use std::ptr::NonNull;

use contract::{Arenas, Result, Untrusted};
use launcher::Seat;

pub(crate) use header::{CmaVote, Header, RankBlock, SharedWords};
pub(crate) use help::{HELP_SLOTS, HelpSlot};
#[cfg(all(test, not(loom)))]
pub(crate) use in_threads::in_threads;
pub(crate) use layout::Layout;
pub use layout::room;

use crate::board::Board;
use crate::ring::{ByteRing, Place};

/// The segment as one rank sees it, with its seat.
pub(crate) struct Segment {
    base: NonNull<u8>,
    layout: Layout,
    /// The mapping, which lasts as long as this.
    seat: Seat,
}

impl Segment {
    /// Returns the segment in the room of a seat.
    ///
    /// # Errors
    /// If the launcher has reserved another room: then it is of another build.
    pub(crate) fn of(seat: Seat) -> Result<Self> {
        let base = match seat.room(room(seat.size())) {
            Ok(base) => base,
            Err(error) => return Err(seat.give_up(error)),
        };
        Ok(Segment { base, layout: Layout::new(seat.size()), seat })
    }

    /// Returns this rank's seat.
    #[inline]
    pub(crate) fn seat(&self) -> &Seat {
        &self.seat
    }

    /// Returns it mutably.
    pub(crate) fn seat_mut(&mut self) -> &mut Seat {
        &mut self.seat
    }

    /// Returns the memory of `bytes` bytes at a place that another rank has named, if it lies in the arenas of the ranks
    /// and this rank has mapped them.
    pub(crate) fn in_arenas(&self, place: Untrusted<usize>, bytes: usize) -> Option<NonNull<u8>> {
        let place = place.accepted(|&place| self.seat.memory_at(place as u64, bytes).is_some())?;
        self.seat.memory_at(place as u64, bytes)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the header is the first thing in the room, page-aligned, and all atomics.
        unsafe { self.base.cast::<Header>().as_ref() }
    }

    /// Returns the block of one rank.
    #[inline]
    pub(crate) fn block(&self, rank: usize) -> &RankBlock {
        let offset = self.layout.block_offset(rank);
        // SAFETY: `block_offset` checks the rank and gives a page-aligned place inside the room; blocks are all
        // atomics.
        unsafe { self.base.add(offset).cast::<RankBlock>().as_ref() }
    }

    /// Votes on cross-memory attach ([`Header::vote_on_cma`]).
    pub(crate) fn vote_on_cma(&self, own: CmaVote) -> CmaVote {
        self.header().vote_on_cma(own, &self.seat)
    }

    /// Returns the ring from `sender` to `receiver`.
    pub(crate) fn ring(&self, sender: usize, receiver: usize) -> Place {
        let ring = self.layout.ring(sender, receiver);
        // SAFETY: `Layout::ring` checks both ranks and gives line-aligned offsets inside the room.
        unsafe {
            let base = self.base.as_ptr();
            Place {
                credit: base.add(ring.credit).cast(),
                cells: base.add(ring.cells).cast(),
                cell_count: self.layout.cells_per_ring(),
                lines: ByteRing {
                    start: base.add(ring.bytes),
                    line_count: self.layout.lines_per_ring(),
                },
            }
        }
    }

    /// Returns a rank's board for the collectives of all ranks.
    pub(crate) fn board(&self, rank: usize) -> *const Board {
        // SAFETY: the layout checks the rank and gives a page-aligned place inside the room.
        unsafe { self.base.add(self.layout.board_offset(rank)) }.cast::<Board>().as_ptr()
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_follow_the_majority_if_it_is_possible_for_all() {
        use CmaVote::{Fast, Impossible, Slow};
        let cases: [(&[CmaVote], CmaVote); 6] = [
            (&[Fast, Slow, Fast], Fast),
            (&[Slow, Slow, Fast], Slow),
            (&[Fast, Fast, Impossible], Impossible),
            (&[Slow, Slow, Slow], Slow),
            (&[Fast, Slow], Slow),
            (&[Fast, Fast], Fast),
        ];
        for (votes, expected) in cases {
            let ranks = votes.len();
            let found = in_threads(ranks, |segment| {
                let vote = segment.vote_on_cma(votes[segment.seat().rank()]);
                segment.seat().finish(Ok(()));
                vote
            });
            assert_eq!(found, vec![expected; ranks], "{votes:?}");
        }
    }

    #[test]
    fn a_launcher_of_another_build_is_refused_with_a_remedy() {
        let other = launcher::Room { layout: 1, ..room(1) };
        let refused = Segment::of(Seat::alone(other).unwrap());
        assert!(refused.is_err_and(|why| why.to_string().contains("from the same sources")));
    }
}
