//! Long allreduces where ranks that share processors are bound to them: the last of each processor to come combines a share.
//!
//! It has nobody to wait for on its own processor, and puts everything but that share, which it reads where its caller has it. Then
//! each switch between ranks serves the whole call, and less is copied than if all put all.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use contract::{Apply, Combine, Result};

use super::reduce::chunk_bytes;
use super::{Groups, Host, Pieces, Team, Whom, copy, piece_within};
use crate::board::{SLOT_BYTES, SLOTS};
use crate::ring::LINE_BYTES;

/// From this length on. Below, one turn more is as long as what it saves (2 and 4 KiB by eight ranks 0.98 and 1.07 times as long as
/// when all combine chunks, 8 KiB by four and eight 0.66 and 1.00, 64 KiB 0.84 and 0.67, 1 MiB 0.69 and 0.45).
const FROM_BYTES: usize = 8 << 10;

impl Team {
    /// Whether the last on each processor combines a share of an allreduce.
    pub(super) fn combines_shares(&self, bytes: usize, element_bytes: usize) -> bool {
        // Elements must not go on at the other end of a board.
        bytes >= FROM_BYTES && self.groups.is_some() && SLOT_BYTES.is_multiple_of(element_bytes)
    }

    /// Allreduce, each processor's last to come at work on a share.
    ///
    /// # Safety
    /// As for `allreduce`.
    pub(super) unsafe fn allreduce_in_shares<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        send: *const u8,
        receive: *mut u8,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let unit = combine.element_bytes;
        let pieces = Pieces::new(bytes, piece_within(SLOT_BYTES, unit)).in_fewest_windows();
        let (each, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        // Of the window under way.
        let is_last = Cell::new(false);
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let Some((first, window)) = pieces.ended_window(epoch, piece) else { return };
                // All slots of the window are this rank's now.
                let (start, bytes) = pieces.get_all(&window);
                is_last.set(team.comes_last(epoch));
                let own = if is_last.get() { team.own_share(bytes, unit) } else { 0..0 };
                let span = team.span(team.me, first, bytes);
                for put in [0..own.start, own.end..bytes] {
                    // SAFETY: the bytes are within what our caller promised, and the span has room for them.
                    unsafe { span.put(put.start, send.add(start + put.start), put.len()) };
                }
                for step in 0..window.len() as u32 {
                    team.publish(first.wrapping_add(step));
                }
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                team.wait_for_all(host, last)?;
                if is_last.get() {
                    let (start, bytes) = pieces.get_all(&window);
                    // SAFETY: as above.
                    let memory = unsafe { (send.add(start), receive.add(start)) };
                    let share = team.own_share(bytes, unit);
                    team.combine_share(
                        epoch,
                        bytes,
                        share,
                        each,
                        memory,
                        &mut **apply.borrow_mut(),
                    );
                    team.say_combined(host, last);
                }
                Ok(())
            },
            |team, host, epoch, piece| {
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                let (start, bytes) = pieces.get_all(&window);
                // SAFETY: as above.
                let to = unsafe { receive.add(start) };
                team.take_shares(host, (epoch, last), bytes, unit, to)
            },
        )
    }

    fn groups(&self) -> &Groups {
        self.groups.as_ref().expect("only teams whose members are bound go in shares")
    }

    /// Whether all others on this rank's processor have come to the step before.
    fn comes_last(&self, epoch: u32) -> bool {
        let groups = self.groups();
        let here = &self.board(groups.first[groups.mine]).counters[epoch as usize % SLOTS].claimed;
        here.count(epoch) as usize == groups.beside.len() + 1
    }

    /// What the last of a processor combines of `bytes` bytes.
    fn share(&self, group: usize, bytes: usize, element_bytes: usize) -> Range<usize> {
        share(group, self.groups().first.len(), bytes, element_bytes)
    }

    fn own_share(&self, bytes: usize, element_bytes: usize) -> Range<usize> {
        self.share(self.groups().mine, bytes, element_bytes)
    }

    /// Combines a share of a window, whose first step is `epoch`, into `to` and into this rank's own slots, where the share is free;
    /// our part of the window is at `from`, which is `to` or apart from it.
    fn combine_share(
        &self,
        epoch: u32,
        bytes: usize,
        share: Range<usize>,
        each: usize,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let last = self.size() - 1;
        let in_place = from == to.cast_const();
        let own = self.span(self.me, epoch, bytes);
        let mut start = share.start;
        while start < share.end {
            let (slot, room) = own.at(start);
            let here = each.min(share.end - start).min(room);
            let part = |member: usize| match member == self.me {
                true => from.wrapping_add(start),
                false => self.span(member, epoch, bytes).at(start).0.cast_const(),
            };
            // SAFETY: every member has put this share, but for us, whose part is there for as long as the call lasts; nobody reads
            // ours in our slots before we have said that it is combined. All boards' slots go on at their start at the same place.
            unsafe {
                let to = to.add(start);
                // By a copy into the slot, where that is possible: it takes lines from the other processor unread.
                let (result, second) = if in_place { (slot, to) } else { (to, slot) };
                let mut right = part(last);
                for member in (0..last).rev() {
                    apply(part(member), right, result, here);
                    right = result;
                }
                copy(right, second, here);
            }
            start += here;
        }
    }

    /// Says that this rank has combined its processor's share.
    fn say_combined<H: Host>(&self, host: &mut H, epoch: u32) {
        let groups = self.groups();
        let work = &self.board(groups.first[groups.mine]).counters[epoch as usize % SLOTS];
        work.done.set(epoch, self.me as u32);
        self.wake_others(host);
    }

    /// Waits until all shares of a window are combined, and copies those of others to `to`.
    fn take_shares<H: Host>(
        &mut self,
        host: &mut H,
        (epoch, last): (u32, u32),
        bytes: usize,
        element_bytes: usize,
        to: *mut u8,
    ) -> Result<()> {
        let (groups, mine) = (self.groups().first.len(), self.groups().mine);
        for group in (0..groups).map(|distance| (mine + distance) % groups) {
            let first = self.groups().first[group];
            let who =
                |team: &Team| team.board(first).counters[last as usize % SLOTS].done.get(last);
            // While it is another processor's nobody here can help.
            let whom = if group == mine { Whom::Nobody } else { Whom::One(first) };
            self.wait_for(host, last, whom, |team| who(team).is_some())?;
            let Some(who) = who(self).filter(|&who| who as usize != self.me) else { continue };
            let share = self.share(group, bytes, element_bytes);
            let span = self.span(who as usize, epoch, bytes);
            // SAFETY: whoever combined the share said so; it stays until this step has ended, and `to` has room for the window.
            unsafe { span.take(share.start, to.add(share.start), share.len()) };
        }
        Ok(())
    }
}

/// One of several shares of `bytes` bytes, whole elements each.
fn share(index: usize, shares: usize, bytes: usize, element_bytes: usize) -> Range<usize> {
    // Whole lines, where elements fill them: nobody then writes to a line that another reads.
    let unit = if LINE_BYTES.is_multiple_of(element_bytes) { LINE_BYTES } else { element_bytes };
    let start = |index: usize| match index == shares {
        true => bytes,
        false => bytes / shares * index / unit * unit,
    };
    start(index)..start(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_elements_and_cover_all_once() {
        // 100 elements of 12 bytes for three: 400 bytes each, of which 396 are whole elements; 800 hold 792.
        let of_three = |index| share(index, 3, 1200, 12);
        assert_eq!([of_three(0), of_three(1), of_three(2)], [0..396, 396..792, 792..1200]);
        // Of elements that fill lines whole lines: 500 hold 448.
        assert_eq!([share(0, 2, 1000, 8), share(1, 2, 1000, 8)], [0..448, 448..1000]);
        assert_eq!(share(0, 1, 1000, 8), 0..1000);
    }
}
