//! Collectives over boards in shared memory: each rank shows its part, the others read it there.
//!
//! Every collective is a number of steps, which all ranks count alike. In a step a rank puts a piece of its part on its board
//! or takes the others' from theirs, or both. Long parts go in pieces, a step for each, and half as many pieces as a board has
//! places are put before the first is taken. A rank that works there while others do, too, takes
//! longer by the board's crowding, however many they are. Of several boards that it looks at in a step each after the first
//! takes it a look more: a line that another rank has written.

mod blocks;
mod reduce;

use std::ops::Range;

use contract::{Error, Rank, Result, TimeSpan, Work, WorkKind};

use crate::machine::Board;
use crate::rank::SimulatedRank;
use crate::world::Mark;

pub(crate) use blocks::{all_to_all, allgather, allgather_in_place, gather, scatter};
pub(crate) use reduce::{allreduce, reduce};

/// One rank's part in one call.
struct Call<'r, 'a> {
    rank: &'r mut SimulatedRank<'a>,
    board: &'r Board,
    mark: Mark,
    /// Whether several ranks write, read or combine at the same time.
    crowded: bool,
    /// The last step in which this rank has seen another's part.
    seen_in: Option<u64>,
}

/// A block cut into pieces: as many steps as it takes.
#[derive(Clone, Copy)]
struct Pieces {
    bytes: usize,
    each: usize,
}

impl Pieces {
    /// The pieces of a block of which each step holds `parts`.
    fn new(board: &Board, parts: usize, bytes: usize) -> Self {
        const LINE_BYTES: usize = 64;
        let room = board.piece_bytes as usize / parts;
        Pieces { bytes, each: (room / LINE_BYTES * LINE_BYTES).max(LINE_BYTES) }
    }

    fn count(self) -> usize {
        self.bytes.div_ceil(self.each).max(1)
    }

    fn range(self, index: usize) -> Range<usize> {
        let start = index * self.each;
        start..self.bytes.min(start + self.each)
    }
}

impl Call<'_, '_> {
    /// Puts and takes the pieces of the call in order.
    fn run(
        &mut self,
        pieces: usize,
        mut put: impl FnMut(&mut Self, u64, usize),
        mut take: impl FnMut(&mut Self, u64, usize) -> Result<()>,
    ) -> Result<()> {
        // One writes the next pieces while another reads those before: all but the first are written, and all but the last
        // read, while another works there.
        let all = self.crowded;
        let window = (self.board.places / 2) as usize;
        for first in (0..pieces).step_by(window) {
            let mut steps = Vec::with_capacity(window);
            for piece in first..pieces.min(first + window) {
                let step = self.rank.begin_step(self.mark)?;
                self.crowded = all || piece > 0;
                put(self, step, piece);
                steps.push((step, piece));
            }
            for (step, piece) in steps {
                self.crowded = all || piece + 1 < pieces;
                take(self, step, piece)?;
                self.rank.end_step(step);
            }
        }
        Ok(())
    }

    /// Writes a piece of `data`.
    fn put_piece(&mut self, step: u64, range: Range<usize>, data: &[u8]) {
        self.put(step, range.len(), &data[range]);
    }

    /// Writes `written_bytes` bytes for others to read, of which only `data` need be there.
    fn put(&mut self, step: u64, written_bytes: usize, data: &[u8]) {
        self.work(self.board.put.of(self.board.counted(written_bytes, data.len())));
        self.rank.put_part(step, data);
    }

    /// Waits for a rank's part of a step, which must be `bytes` long, and hands it to `use_it`.
    fn part(
        &mut self,
        of: usize,
        step: u64,
        bytes: usize,
        use_it: impl FnOnce(&[u8]),
    ) -> Result<()> {
        let found_bytes = self.rank.see_part(of, step)?;
        // The way of the first line is the time until it is seen; the others follow it one by one.
        if self.seen_in.replace(step) == Some(step) {
            self.rank.work(self.board.look);
        }
        if found_bytes != bytes {
            let (collective, what) = (self.mark.collective, format!("what rank {of} shows"));
            let expected_bytes = bytes;
            return Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes });
        }
        self.rank.with_part(of, step, use_it);
        Ok(())
    }

    /// The same, and the time to copy `bytes` of it.
    fn take(
        &mut self,
        of: usize,
        step: u64,
        (part_bytes, bytes): (usize, usize),
        use_it: impl FnOnce(&[u8]),
    ) -> Result<()> {
        self.part(of, step, part_bytes, use_it)?;
        self.work(self.board.take.of(self.board.counted(bytes, part_bytes)));
        Ok(())
    }

    /// The other ranks, beginning with the next one.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, size) = (self.rank.rank(), self.rank.size());
        (1..size).map(move |distance| (me + distance) % size)
    }

    /// A copy within this rank's memory.
    fn copy(&mut self, bytes: usize) {
        let copy = Work::new(WorkKind::CopyBytes, bytes as u64);
        self.work(self.rank.time_of(copy));
    }

    /// To combine all ranks' pieces of `bytes` bytes. What the shortest takes is the call's and not each part's.
    fn combining(&self, bytes: usize) -> TimeSpan {
        let combine = &self.board.combine;
        let two = combine.of(bytes as u64);
        two + (two - combine.of(0)).times(self.rank.size() as u64 - 2)
    }

    /// The rank's processor works as long as `alone` says of a rank that is alone at it.
    fn work(&mut self, alone: TimeSpan) {
        self.rank.work(if self.crowded { self.board.crowded(alone) } else { alone });
    }

    fn refuse<T>(&self, what: &str, expected_bytes: usize, found_bytes: usize) -> Result<T> {
        let (collective, what) = (self.mark.collective, what.into());
        Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes })
    }
}

fn call<'r, 'a>(
    rank: &'r mut SimulatedRank<'a>,
    board: &'r Board,
    collective: &'static str,
) -> Call<'r, 'a> {
    let mark = Mark { collective, root: None, reduction: None };
    Call { rank, board, mark, crowded: false, seen_in: None }
}

/// A call of which rank `root` is the root, and whether this rank is that one.
fn rooted<'r, 'a>(
    rank: &'r mut SimulatedRank<'a>,
    board: &'r Board,
    collective: &'static str,
    root: usize,
) -> Result<(Call<'r, 'a>, bool)> {
    contract::check_rank(root, rank.size())?;
    let is_root = rank.rank() == root;
    let mut call = call(rank, board, collective);
    call.mark.root = Some(root);
    Ok((call, is_root))
}

/// A call in which all ranks write, and all read.
fn call_of_all<'r, 'a>(
    rank: &'r mut SimulatedRank<'a>,
    board: &'r Board,
    collective: &'static str,
) -> Call<'r, 'a> {
    Call { crowded: true, ..call(rank, board, collective) }
}

/// Waits until every rank has come here.
pub(crate) fn barrier(rank: &mut SimulatedRank<'_>, board: &Board) -> Result<()> {
    call_of_all(rank, board, "barrier").run(
        1,
        |call, step, _| call.put(step, 0, &[]),
        |call, step, _| call.others().try_for_each(|of| call.take(of, step, (0, 0), |_| {})),
    )
}

/// Copies `buffer` of rank `root` to all.
pub(crate) fn broadcast(
    rank: &mut SimulatedRank<'_>,
    board: &Board,
    root: usize,
    buffer: &mut [u8],
) -> Result<()> {
    let (mut call, is_root) = rooted(rank, board, "broadcast", root)?;
    let pieces = Pieces::new(board, 1, buffer.len());
    if is_root {
        let show = |call: &mut Call<'_, '_>, step, piece| {
            call.put_piece(step, pieces.range(piece), buffer);
        };
        return call.run(pieces.count(), show, |_, _, _| Ok(()));
    }
    call.run(
        pieces.count(),
        |_, _, _| {},
        |call, step, piece| {
            let range = pieces.range(piece);
            let bytes = range.len();
            call.take(root, step, (bytes, bytes), |part| buffer[range].copy_from_slice(part))
        },
    )
}
