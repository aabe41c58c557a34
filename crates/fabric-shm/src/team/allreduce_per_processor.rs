//! Long allreduces where ranks are oversubscribed and bound: the last member of each processor to arrive
//! combines that processor's part (decision 0029).
//!
//! That member has nobody to wait for on its own processor. It puts everything but that part, which it reads
//! where its caller has it. So each switch between ranks serves the whole call, and less is copied than if
//! all members put all.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use contract::{Apply, Combine, Result};

use super::agreement::Awaited;
use super::combining::{chunk_bytes, part_of};
use super::oversubscription::ProcessorGroups;
use super::pieces::{Pieces, copy, piece_within};
use super::{Host, Memory, Team};
use crate::board::{SLOT_BYTES, SLOTS};

/// From this length on. Below, one more switch takes as long as what it saves. See
/// docs/measurements.md#allreduce-per-processor.
const PER_PROCESSOR_FROM_BYTES: usize = 8 << 10;

/// Some of the data: a window of a call, which begins with step `epoch`.
#[derive(Clone, Copy)]
struct Window {
    epoch: u32,
    bytes: usize,
    element_bytes: usize,
}

impl Team {
    /// Whether an allreduce is combined per processor.
    pub(super) fn combines_per_processor(&self, bytes: usize, element_bytes: usize) -> bool {
        // No element may begin at the end of a board and go on at its start.
        bytes >= PER_PROCESSOR_FROM_BYTES
            && self.processors.is_some()
            && SLOT_BYTES.is_multiple_of(element_bytes)
    }

    /// Allreduce, each processor's last member to arrive at work on a part.
    ///
    /// # Safety
    /// As for `allreduce`.
    pub(super) unsafe fn allreduce_per_processor<H: Host>(
        &mut self,
        host: &mut H,
        call_id: u32,
        Memory { send, receive }: Memory,
        bytes: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let element_bytes = combine.element_bytes;
        let pieces =
            Pieces::new(bytes, piece_within(SLOT_BYTES, element_bytes)).in_fewest_windows();
        let (chunk_bytes, apply) = (chunk_bytes(&combine), RefCell::new(combine.apply));
        // In the window under way.
        let arrived_last = Cell::new(false);
        self.run_with_work(
            host,
            pieces.call(call_id),
            |team, host, epoch, piece| {
                let Some((first, window)) = pieces.ended_window(epoch, piece) else { return };
                // All slots of the window are this rank's now.
                let (start, bytes) = pieces.get_all(&window);
                arrived_last.set(team.arrives_last(epoch));
                let part = Window { epoch: first, bytes, element_bytes };
                // SAFETY: the bytes are within what the caller promised.
                unsafe { team.put_for_others(part, send.add(start), arrived_last.get()) };
                team.publish_window(first, window.len());
                team.arrive(host, epoch);
            },
            |team, host, epoch, piece| {
                let Some((last, window)) = pieces.begun_window(epoch, piece) else {
                    return Ok(());
                };
                team.wait_for_all(host, last)?;
                if arrived_last.get() {
                    let (start, bytes) = pieces.get_all(&window);
                    // SAFETY: as above.
                    let memory = unsafe { (send.add(start), receive.add(start)) };
                    let window = Window { epoch, bytes, element_bytes };
                    team.combine_own_part(window, chunk_bytes, memory, &mut **apply.borrow_mut());
                    team.publish_combined(host, last);
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
                team.take_parts(host, Window { epoch, bytes, element_bytes }, last, to)
            },
        )
    }

    fn groups(&self) -> &ProcessorGroups {
        self.processors.as_ref().expect("only where members are bound is combined per processor")
    }

    /// Counts this rank among the members of its processor that have arrived in this step. Returns whether it
    /// is the last.
    fn arrives_last(&self, epoch: u32) -> bool {
        let groups = self.groups();
        let first = groups.first[groups.own];
        let arrived = &self.board(first).counters[epoch as usize % SLOTS].claimed;
        arrived.count(epoch) as usize == groups.local.len() + 1
    }

    /// The part of a window that the last member of a processor combines.
    fn processor_part(&self, group: usize, window: Window) -> Range<usize> {
        part_of(group, self.groups().first.len(), window.bytes, window.element_bytes)
    }

    fn own_processor_part(&self, window: Window) -> Range<usize> {
        self.processor_part(self.groups().own, window)
    }

    /// Puts this rank's data of a window: all that other members combine.
    ///
    /// # Safety
    /// `send` holds the window's bytes.
    unsafe fn put_for_others(&self, window: Window, send: *const u8, combines: bool) {
        let own = if combines { self.own_processor_part(window) } else { 0..0 };
        let span = self.span(self.me, window.epoch, window.bytes);
        for put in [0..own.start, own.end..window.bytes] {
            // SAFETY: the caller promised the bytes, and the span has room for them.
            unsafe { span.put(put.start, send.add(put.start), put.len()) };
        }
    }

    /// Combines this processor's part of a window into `to` and into this rank's own slots, where that part
    /// is free. This rank's data of the window are at `from`, which is `to` or apart from it.
    fn combine_own_part(
        &self,
        window: Window,
        chunk_bytes: usize,
        (from, to): (*const u8, *mut u8),
        apply: &mut Apply<'_>,
    ) {
        let Window { epoch, bytes, .. } = window;
        let part = self.own_processor_part(window);
        let last = self.size() - 1;
        let in_place = from == to.cast_const();
        let own = self.span(self.me, epoch, bytes);
        let mut start = part.start;
        while start < part.end {
            let (slot, room) = own.at(start);
            let here = chunk_bytes.min(part.end - start).min(room);
            let data = |member: usize| match member == self.me {
                true => from.wrapping_add(start),
                false => self.span(member, epoch, bytes).at(start).0.cast_const(),
            };
            // SAFETY: every member but this one has put this part, and this rank's data are there for as long
            // as the call lasts. Nobody reads this part in our slots before we have published that it is
            // combined. All boards' slots go on at their start at the same place.
            unsafe {
                let to = to.add(start);
                // By a copy into the slot, where that is possible: it takes lines from the other processor
                // without reading them.
                let (result, second) = if in_place { (slot, to) } else { (to, slot) };
                let mut right = data(last);
                for member in (0..last).rev() {
                    apply(data(member), right, result, here);
                    right = result;
                }
                copy(right, second, here);
            }
            start += here;
        }
    }

    /// Publishes that this rank has combined its processor's part.
    fn publish_combined<H: Host>(&self, host: &mut H, epoch: u32) {
        let groups = self.groups();
        let counters = &self.board(groups.first[groups.own]).counters[epoch as usize % SLOTS];
        counters.done.set(epoch, self.me as u32);
        self.wake_others(host);
    }

    /// Waits until all parts of a window, whose last step is `last`, are combined, and copies those of other
    /// members to `to`.
    fn take_parts<H: Host>(
        &mut self,
        host: &mut H,
        window: Window,
        last: u32,
        to: *mut u8,
    ) -> Result<()> {
        let (groups, own) = (self.groups().first.len(), self.groups().own);
        for group in (0..groups).map(|distance| (own + distance) % groups) {
            let first = self.groups().first[group];
            let combiner =
                |team: &Team| team.board(first).counters[last as usize % SLOTS].done.get(last);
            // While it is another processor's part no rank on this one has to run first.
            let awaited = if group == own { Awaited::Nobody } else { Awaited::One(first) };
            self.wait_for(host, last, awaited, |team| combiner(team).is_some())?;
            let others = combiner(self).filter(|&member| member as usize != self.me);
            let Some(member) = others else { continue };
            let part = self.processor_part(group, window);
            let span = self.span(member as usize, window.epoch, window.bytes);
            // SAFETY: the member that combined the part has published that. The part stays until this step
            // has ended, and `to` has room for the window.
            unsafe { span.take(part.start, to.add(part.start), part.len()) };
        }
        Ok(())
    }
}
