//! Collectives over boards in shared memory: each rank puts its part on its board, and the others read it there.
//!
//! Each collective follows the [plan](collectives::plan) that the fabric in shared memory would execute. This module
//! contains the costs of its steps.
//!
//! A collective is a number of steps, which all ranks count alike. In a step a rank puts a piece of its part on its
//! board, takes the others' from theirs, or both. Long parts are divided into pieces, one for each step, and half as
//! many pieces as a board has places are put before the first is taken. A rank that works there while others do takes
//! longer by the board's crowding, independently of their number. Each board that it reads in a step, except the first,
//! costs the time of a further board, because that is a line that another rank has written. If ranks arrive in groups,
//! a rank reads only the boards of its group and one for each other group, unless it takes data from each.

mod blocks;
mod charged;
mod reduce;

use std::borrow::Cow;
use std::ops::Range;

use collectives::Collective;
use collectives::plan::{Owners, Pieces, Plan};
use contract::{CollectiveCall, Error, Readable, Result, TimeSpan, Work, WorkKind, Writable};

use crate::endpoint::{Idle, SimEndpoint};
use crate::machine::Board;
use charged::Charge;

/// One rank's part in one call.
struct Call<'r, 'a> {
    endpoint: &'r mut SimEndpoint<'a>,
    idle: Idle<'r, 'a>,
    board: &'r Board,
    plan: Plan,
    name: &'static str,
    /// True if several ranks write, read or combine at the same time.
    crowded: bool,
    /// The last step in which this rank has seen others' parts, and their number.
    seen: Option<(u64, usize)>,
}

/// Executes a collective of all ranks.
pub(crate) fn carry_out<'a>(
    endpoint: &mut SimEndpoint<'a>,
    idle: Idle<'_, 'a>,
    board: &Board,
    plan: Plan,
    call: CollectiveCall<'_>,
) -> Result<()> {
    // Without a root all ranks write, and all read.
    let (name, crowded) = (call.id().name(), !call.collective.has_root());
    let own = Call { endpoint, idle, board, plan, name, crowded, seen: None };
    let CollectiveCall { collective, root, bytes, send, mut receive, combine, stated_bytes } = call;
    let receive = receive.as_mut();
    match (collective, combine) {
        (Collective::Barrier, _) => own.barrier(),
        (Collective::Broadcast, _) => own.broadcast(root, whole(receive)),
        (Collective::Scatter, _) => {
            let room = receive.map(|receive| whole(Some(receive)));
            own.scatter(root, slice_of(&send).unwrap_or_default(), room, bytes)
        }
        (Collective::Gather, _) => own.gather(root, slice_of(&send), whole(receive), bytes),
        (Collective::Allgather, _) => {
            own.allgather(slice_of(&send), whole(receive), bytes, stated_bytes)
        }
        (Collective::AllToAll, _) => {
            own.all_to_all(slice_of(&send), whole(receive), bytes, stated_bytes)
        }
        (Collective::Reduce, Some(combine)) => {
            let send = unaliased(&send, receive.as_deref());
            own.reduce(root, &send, whole(receive), combine)
        }
        (Collective::Allreduce, Some(combine)) => {
            let send = unaliased(&send, receive.as_deref());
            own.allreduce(&send, whole(receive), combine)
        }
        _ => unreachable!("no plan of these calls uses boards"),
    }
}

fn slice_of(block: &Option<Readable>) -> Option<&[u8]> {
    block.as_ref().map(Readable::as_slice)
}

/// Returns all of some memory.
fn whole(memory: Option<&mut Writable>) -> &mut [u8] {
    memory.map_or(&mut [], |memory| memory.part_mut(0..memory.bytes()))
}

/// Returns the sent data; a copy of them, if the result goes to the same memory.
fn unaliased<'m>(send: &'m Option<Readable>, receive: Option<&Writable>) -> Cow<'m, [u8]> {
    let data = slice_of(send).unwrap_or_default();
    match receive.is_some_and(|receive| receive.as_mut_ptr().cast_const() == data.as_ptr()) {
        true => Cow::Owned(data.to_vec()),
        false => Cow::Borrowed(data),
    }
}

impl Call<'_, '_> {
    fn me(&self) -> usize {
        self.endpoint.number()
    }

    fn size(&self) -> usize {
        self.endpoint.ranks()
    }

    /// Records a charge of this rank, for the test of `charged`.
    fn note(&self, what: Charge, amount: usize) {
        charged::note(self.me(), what, amount);
    }

    fn pieces(&self) -> Pieces {
        self.plan.pieces
    }

    /// Puts and takes the pieces of the call in order.
    fn run(
        &mut self,
        mut put: impl FnMut(&mut Self, u64, usize),
        mut take: impl FnMut(&mut Self, u64, usize) -> Result<()>,
    ) -> Result<()> {
        // One rank writes the next pieces while another reads those before. All but the first are written, and all but
        // the last are read, while another rank works there.
        let (all, pieces, window) = (self.crowded, self.pieces().count(), self.pieces().window);
        for first in (0..pieces).step_by(window) {
            let mut steps = Vec::with_capacity(window);
            for piece in first..pieces.min(first + window) {
                let step = self.begin_step()?;
                self.crowded = all || piece > 0;
                put(self, step, piece);
                steps.push((step, piece));
            }
            for (step, piece) in steps {
                self.crowded = all || piece + 1 < pieces;
                take(self, step, piece)?;
                self.endpoint.end_step(step);
            }
        }
        Ok(())
    }

    /// Begins the next step, once this rank's place is free.
    fn begin_step(&mut self) -> Result<u64> {
        self.note(Charge::Step, 1);
        self.endpoint.begin_step(&mut *self.idle)
    }

    /// Writes a piece of `data`.
    fn put_piece(&mut self, step: u64, range: Range<usize>, data: &[u8]) {
        self.put(step, range.len(), &data[range]);
    }

    /// Spends the time to write `written_bytes` bytes for others to read, and puts `data` on this rank's board.
    fn put(&mut self, step: u64, written_bytes: usize, data: &[u8]) {
        self.note(Charge::Write, written_bytes);
        self.work(self.board.put.of(self.board.counted(written_bytes, data.len())));
        self.endpoint.put_part(step, data);
    }

    /// Waits for a rank's part of a step, which must be `bytes` long, and calls `use_it` with it.
    fn part(
        &mut self,
        of: usize,
        step: u64,
        bytes: usize,
        use_it: impl FnOnce(&[u8]),
    ) -> Result<()> {
        self.see(of, step, bytes, self.most_boards())?;
        self.endpoint.with_part(of, step, use_it);
        Ok(())
    }

    /// Returns the number of boards that this rank reads in a step from which it takes no data.
    fn most_boards(&self) -> usize {
        self.levels().map_or(self.size(), |(members, groups)| members + groups - 2)
    }

    /// Waits for a rank's part of a step, which must be `bytes` long. Spends the time of a further board, unless
    /// `most_boards` boards or more were read in this step.
    fn see(&mut self, of: usize, step: u64, bytes: usize, most_boards: usize) -> Result<()> {
        let found_bytes = self.endpoint.see_part(of, step, &mut *self.idle)?;
        let before = self.seen.filter(|&(seen_in, _)| seen_in == step).map_or(0, |(_, seen)| seen);
        self.seen = Some((step, before + 1));
        // The time until the first line is seen is the time of its transfer; the others follow it one by one. In groups
        // two more lines are transferred: from a group to the last of all, and from there to the members.
        if before == 0 && self.plan.group_ranks.is_some() {
            self.endpoint.work(self.board.see.times(2));
        } else if (1..most_boards).contains(&before) {
            self.endpoint.work(self.board.further_board);
        }
        if found_bytes != bytes {
            return self.unequal(format!("the data of rank {of}"), bytes, found_bytes);
        }
        Ok(())
    }

    /// As [`part`](Call::part), and spends the time to copy `bytes` of it.
    fn take(
        &mut self,
        of: usize,
        step: u64,
        (part_bytes, bytes): (usize, usize),
        use_it: impl FnOnce(&[u8]),
    ) -> Result<()> {
        self.see(of, step, part_bytes, self.size())?;
        self.endpoint.with_part(of, step, use_it);
        self.note(Charge::Read, bytes);
        self.work(self.board.take.of(self.board.counted(bytes, part_bytes)));
        Ok(())
    }

    /// Returns the other ranks, beginning with the next one.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, size) = (self.me(), self.size());
        (1..size).map(move |distance| (me + distance) % size)
    }

    /// Spends the time of a copy within this rank's memory.
    fn copy(&mut self, bytes: usize) {
        let copy = Work::new(WorkKind::CopyBytes, bytes as u64);
        self.work(self.endpoint.time_of(copy));
    }

    /// Spends the time of copying a part of a block, at the rate of the whole block, because the caches that the block
    /// fits determine the rate. Returns the part's length.
    fn copy_part(&mut self, bytes: usize, block_bytes: usize) -> usize {
        let whole = self.endpoint.time_of(Work::new(WorkKind::CopyBytes, block_bytes as u64));
        let ps = u128::from(whole.as_ps()) * bytes as u128 / block_bytes.max(1) as u128;
        self.work(TimeSpan::from_ps(ps as u64));
        bytes
    }

    /// Returns the number of members of a group and the number of groups, if ranks arrive in groups.
    fn levels(&self) -> Option<(usize, usize)> {
        self.plan.group_ranks.map(|members| (members, self.size().div_ceil(members)))
    }

    /// Returns the time to combine all ranks' pieces of `bytes` bytes; in groups, those of a group and then the
    /// groups'. The time for a length of 0 is spent once a call, not once a part.
    fn combining(&self, bytes: usize) -> TimeSpan {
        let in_groups = self.levels().filter(|_| self.plan.owners_of(bytes) == Owners::Groups);
        let parts = in_groups.map_or(self.size(), |(members, groups)| members + groups - 1);
        self.note(Charge::Combine, bytes * (self.size() - 1));
        let combine = &self.board.combine;
        let two = combine.of(bytes as u64);
        two + (two - combine.of(0)).times(parts as u64 - 2)
    }

    /// Lets the rank's processor work for the time that a rank alone would need, lengthened if the boards are crowded.
    fn work(&mut self, alone: TimeSpan) {
        self.endpoint.work(if self.crowded { self.board.crowded(alone) } else { alone });
    }

    fn unequal<T>(&self, what: String, expected_bytes: usize, found_bytes: usize) -> Result<T> {
        let collective = self.name.into();
        Err(Error::UnequalCounts { collective, what, expected_bytes, found_bytes })
    }

    /// Waits until every rank has arrived.
    fn barrier(mut self) -> Result<()> {
        self.run(
            |call, step, _| call.put(step, 0, &[]),
            |call, step, _| {
                for (before, of) in call.others().enumerate() {
                    call.part(of, step, 0, |_| {})?;
                    if before < call.most_boards() {
                        call.work(call.board.take.of(0));
                    }
                }
                Ok(())
            },
        )
    }

    /// Copies `buffer` of rank `root` to all.
    fn broadcast(mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        let pieces = self.pieces();
        if self.me() == root {
            let show = |call: &mut Call<'_, '_>, step, piece| {
                call.put_piece(step, pieces.range(piece), buffer);
            };
            return self.run(show, |_, _, _| Ok(()));
        }
        self.run(
            |_, _, _| {},
            |call, step, piece| {
                let range = pieces.range(piece);
                let bytes = range.len();
                call.take(root, step, (bytes, bytes), |part| buffer[range].copy_from_slice(part))
            },
        )
    }
}
