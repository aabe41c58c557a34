//! The rendezvous protocol: long messages, which are copied from the sender's memory to the receiver's.
//!
//! The sender's RTS holds the location of the message. Once a receive has matched it, the receiver copies the message
//! and sends a FIN. From [`RECEIVER_ASKS_HELP_FROM_BYTES`] on the receiver first asks the sender for co-copy: each side
//! claims the next chunk from a counter in the segment until none is left. A busy sender claims none, and the receiver
//! copies everything.

use std::ptr::NonNull;
use std::time::Duration;

use contract::{Arenas, Error, Request, Result};
use engine::{Location, Messages, Rts, Transport};
use launcher::wait_for_cause;

use super::Rings;
use super::cma::{Cma, read_memory, write_memory};
use super::limits::{
    CMA_RECEIVER_ASKS_HELP_FROM_BYTES, RECEIVER_ASKS_HELP_FROM_BYTES, chunk_bytes,
};
use super::message::{halves, kind, location_in, location_words, numbers};
use crate::primitive::spin_loop;
use crate::ring::Body;
use crate::segment::{HELP_SLOTS, HelpSlot};

/// Number of polls for which a failing rank waits for a helper to finish its chunk.
const HELPER_POLLS: u32 = if cfg!(test) { 1000 } else { 10_000_000 };

/// Time after which a launcher has noticed the death of a process, unless it is dead, too.
const LAUNCHER_LIMIT: Duration = Duration::from_secs(10);

/// A receive that waits for the last chunk of its helper.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoCopy {
    request: Request,
    theirs: u32,
    slot: usize,
    generation: u32,
    /// Number of chunks that the helper must complete.
    helped: u32,
}

/// Memory that another rank has named and that this rank can access, after its check.
#[derive(Clone, Copy)]
enum There {
    /// In the arenas.
    Arena(NonNull<u8>),
    /// At an address of a process, which the kernel accesses.
    Process(libc::pid_t, usize),
}

impl Rings {
    /// Returns whether this rank can access memory there without the ring.
    fn reaches(&self, location: Location) -> bool {
        match (location, self.cma) {
            (Location::Arena(_), _) => self.segment.seat().has_arenas(),
            (Location::Address(_), Cma::Allowed { fast }) => {
                fast || !self.choices.every_rank_has_a_processor
            }
            _ => false,
        }
    }

    /// Answers an RTS for the receive that it has matched: copies the message if its location is accessible, and otherwise
    /// requests fragments with a CTS. Returns `None` if there is no such memory.
    pub(super) fn accept_rts(
        &mut self,
        messages: &mut Messages,
        request: Request,
        rts: Rts,
    ) -> Option<()> {
        if self.keep_in_place(messages, request, rts) {
            return Some(());
        }
        let envelope = messages.transfers[request].envelope;
        let source = self.place_of(envelope.source);
        if !self.reaches(rts.location) {
            // No data follow the RTS of an empty message.
            messages.transfers[request].done = envelope.bytes == 0;
            if envelope.bytes > 0 {
                messages.transfers.announce(request);
            }
            let cts = numbers(kind::CTS, [rts.request, request.0]);
            self.send_control(messages, source, cts);
            return Some(());
        }
        let bytes = envelope.bytes.min(messages.transfers[request].room);
        let there = self.there(source, rts.location, bytes)?;
        let asks_help = match rts.location {
            _ if bytes >= RECEIVER_ASKS_HELP_FROM_BYTES => true,
            Location::Arena(_) => false,
            _ => bytes >= CMA_RECEIVER_ASKS_HELP_FROM_BYTES && messages.posted.is_empty(),
        };
        match asks_help.then(|| self.free_slot()).flatten() {
            Some(slot) => self.copy_with_help(messages, (request, rts.request, there), bytes, slot),
            None => {
                if self.copy_to_receive(messages, (request, there), 0, bytes) {
                    self.finish_copy(messages, request, rts.request);
                }
            }
        }
        Some(())
    }

    /// Returns where this rank finds the `bytes` bytes at a location that `source` has named, or `None` if there are none.
    fn there(&self, source: usize, location: Location, bytes: usize) -> Option<There> {
        match location {
            Location::Arena(place) => self.segment.in_arenas(place, bytes).map(There::Arena),
            Location::Address(address) => {
                // The kernel checks the rest.
                let address = address.accepted(|address| address.checked_add(bytes).is_some())?;
                Some(There::Process(self.segment.seat().process(source), address))
            }
            Location::Remote => None,
        }
    }

    fn free_slot(&self) -> Option<usize> {
        (0..HELP_SLOTS).find(|&slot| self.co_copies.iter().all(|one| one.slot != slot))
    }

    fn copy_with_help(
        &mut self,
        messages: &mut Messages,
        (request, theirs, there): (Request, u32, There),
        bytes: usize,
        slot: usize,
    ) {
        let operation = messages.transfers[request];
        let source = self.place_of(operation.envelope.source);
        let chunk_bytes = chunk_bytes(bytes);
        let chunks = bytes.div_ceil(chunk_bytes) as u32;
        let generation = self.segment.block(self.me).help_slot(slot).open(chunks);
        let [low, high] = halves(bytes);
        let place = self.segment.seat().place_of(operation.memory, operation.room);
        let [flag, location_low, location_high] = location_words(place, operation.memory);
        let requested = numbers(
            kind::HELP,
            [theirs, slot as u32, generation, low, high, flag, location_low, location_high],
        );
        self.send_control(messages, source, requested);
        let mut mine = 0;
        while let Some(chunk) = self.segment.block(self.me).help_slot(slot).claim(generation) {
            // Every rank can write the counter.
            let Some(chunk) = chunk.below(chunks).filter(|_| mine < chunks) else {
                return self.refuse_because(messages, source, "a chunk that there is not");
            };
            let start = chunk as usize * chunk_bytes;
            let length = chunk_bytes.min(bytes - start);
            if !self.copy_to_receive(messages, (request, there), start, length) {
                return;
            }
            mine += 1;
        }
        let helped = chunks - mine;
        self.co_copies.push(CoCopy { request, theirs, slot, generation, helped });
        self.poll_co_copies(messages);
    }

    /// Copies a part of a message into its receive. Returns false if that failed, which is permanent.
    fn copy_to_receive(
        &mut self,
        messages: &mut Messages,
        (request, there): (Request, There),
        start: usize,
        bytes: usize,
    ) -> bool {
        let operation = messages.transfers[request];
        // SAFETY: `start + bytes` is within the receive's room, which the caller of `start_receive` promised, and within
        // the memory there, which `there` has checked. The sender's request keeps it until our FIN.
        let copied = unsafe {
            let to = operation.memory.add(start);
            match there {
                There::Arena(from) => {
                    std::ptr::copy_nonoverlapping(from.as_ptr().add(start), to, bytes);
                    Ok(())
                }
                There::Process(process, address) => {
                    read_memory(process, address + start, to, bytes)
                }
            }
        };
        let source = operation.envelope.source;
        copied.map_err(|error| self.fail_to_copy(messages, source, &error)).is_ok()
    }

    /// Copies chunks for a receiver that asked for co-copy.
    /// Returns `None` if it asks for a message that is not its own, or names memory that is not there.
    pub(super) fn help(
        &mut self,
        messages: &mut Messages,
        source: usize,
        body: &Body,
    ) -> Option<()> {
        let send = messages.transfers.announced_send(body.number(0), self.rank_at(source))?;
        let operation = messages.transfers[send];
        let slot = body.number(1).below(HELP_SLOTS as u32)? as usize;
        // The receiver's own, which its slot is compared with.
        let generation = body.number(2).sent_back();
        let bytes = body.long_number(3).at_most(operation.room)?;
        let location = location_in(body, 5);
        if !self.reaches(location) {
            return Some(());
        }
        let there = self.there(source, location, bytes)?;
        let chunk_bytes = chunk_bytes(bytes);
        let chunks = bytes.div_ceil(chunk_bytes) as u32;
        // A receiver that opens its slot again and again must not hold this rank.
        for _ in 0..chunks {
            let Some(chunk) = self.segment.block(source).help_slot(slot).claim(generation) else {
                break;
            };
            let start = chunk.below(chunks)? as usize * chunk_bytes;
            let length = chunk_bytes.min(bytes - start);
            // SAFETY: whoever lent the memory promised `room` bytes, and the chunk is within them and within the memory
            // there: all was just checked. The receiver keeps its memory until all claimed chunks are done.
            let copied = unsafe {
                let from = operation.memory.add(start);
                match there {
                    There::Arena(to) => {
                        std::ptr::copy_nonoverlapping(from, to.as_ptr().add(start), length);
                        Ok(())
                    }
                    There::Process(process, address) => {
                        write_memory(process, address + start, from, length)
                    }
                }
            };
            if let Err(error) = copied {
                let rank = self.inbound[source].rank;
                self.fail_to_copy(messages, rank, &error);
                return Some(());
            }
            self.segment.block(source).help_slot(slot).count_done();
        }
        self.wake(source);
        Some(())
    }

    /// Completes the receives whose helpers have completed their chunks.
    pub(super) fn poll_co_copies(&mut self, messages: &mut Messages) {
        let mut index = 0;
        while index < self.co_copies.len() {
            let one = self.co_copies[index];
            if self.segment.block(self.me).help_slot(one.slot).done().is(one.helped) {
                self.co_copies.swap_remove(index);
                self.finish_copy(messages, one.request, one.theirs);
            } else {
                index += 1;
            }
        }
    }

    fn finish_copy(&mut self, messages: &mut Messages, request: Request, theirs: u32) {
        let operation = &mut messages.transfers[request];
        operation.moved = operation.envelope.bytes;
        operation.done = true;
        let source = self.place_of(operation.envelope.source);
        self.send_control(messages, source, numbers(kind::FIN, [theirs]));
    }

    /// Returns whether cross-memory attach is fast, for all ranks.
    #[inline]
    pub(crate) fn uses_cma(&self) -> bool {
        self.cma.is_fast()
    }

    /// Copies from another rank's memory. A failure is permanent.
    ///
    /// # Safety
    /// `to` has room for `bytes` bytes, and the other rank does not modify its own meanwhile.
    pub(crate) unsafe fn read_from(
        &mut self,
        messages: &mut Messages,
        (rank, from): (usize, usize),
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let process = self.segment.seat().process(rank);
        // SAFETY: the caller promises the same.
        let read = unsafe { read_memory(process, from, to, bytes) };
        read.map_err(|error| self.fail_to_copy(messages, self.inbound[rank].rank, &error))
    }

    /// Copies to another rank's memory. A failure is permanent.
    ///
    /// # Safety
    /// `from` holds `bytes` bytes, and the other rank expects them at `to`.
    pub(crate) unsafe fn write_to(
        &mut self,
        messages: &mut Messages,
        (rank, to): (usize, usize),
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let process = self.segment.seat().process(rank);
        // SAFETY: the caller promises the same.
        let written = unsafe { write_memory(process, to, from, bytes) };
        written.map_err(|error| self.fail_to_copy(messages, self.inbound[rank].rank, &error))
    }

    /// Ends the run for this rank after a copy that failed. The process of the other rank may be gone: its launcher learns
    /// that a moment later, and says how it ended, so that this rank is not blamed.
    #[cold]
    fn fail_to_copy(
        &mut self,
        messages: &mut Messages,
        rank: u32,
        error: &std::io::Error,
    ) -> Error {
        let is_gone = error.raw_os_error() == Some(libc::ESRCH);
        let cause = is_gone.then(|| wait_for_cause(LAUNCHER_LIMIT, || self.abort_reason()));
        self.fail(messages, cause.flatten().unwrap_or_else(|| cannot_copy(rank, error)))
    }

    /// Ends the run for this rank.
    #[cold]
    pub(crate) fn fail(&mut self, messages: &mut Messages, error: Error) -> Error {
        self.close_co_copies();
        messages.fail(error)
    }

    /// Keeps helpers away from memory that is about to be released.
    pub(super) fn close_co_copies(&mut self) {
        for one in std::mem::take(&mut self.co_copies) {
            let slot: &HelpSlot = self.segment.block(self.me).help_slot(one.slot);
            slot.close(one.generation);
            let mut polls = 0;
            while !slot.done().is(one.helped) && polls < HELPER_POLLS {
                polls += 1;
                spin_loop();
            }
        }
    }
}

fn cannot_copy(rank: u32, error: &std::io::Error) -> Error {
    Error::System {
        what: format!("copying between this rank's memory and rank {rank}'s"),
        reason: error.to_string(),
    }
}
