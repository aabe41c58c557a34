//! Long messages that are copied straight from the sender's memory to the receiver's.
//!
//! The sender offers the message and says where it lies. The receiver, once it has a receive for it, copies it, and tells
//! the sender that it is done. From [`SHARED_FROM_BYTES`] on the receiver first asks the sender to help, and then both
//! copy: each takes the next chunk off a counter in the segment until none is left. A sender that is busy elsewhere is
//! simply not there, and the receiver does it all.

use contract::{Envelope, Error, Request, Result};

use super::Engine;
use super::copy::{Attach, Far, read_far, write_far};
use super::limits::{ATTACHED_SHARED_FROM_BYTES, SHARED_FROM_BYTES, chunk_bytes};
use super::message::kind;
use super::send::{halves, numbers};
use crate::primitive::spin_loop;
use crate::segment::{HelpSlot, SLOTS};

/// How long a failing rank lets a helper finish the chunk that it is at.
const HELPER_LOOKS: u32 = 10_000_000;

/// A receive that waits for the last chunk of its helper.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    request: Request,
    theirs: u32,
    slot: usize,
    generation: u32,
    /// The chunks that the helper has to have done.
    helped: u32,
}

/// A message that was offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    /// The sender's request.
    pub(super) request: u32,
    pub(super) place: Far,
}

const IN_ARENA: u32 = 1;

/// A place as three words of a payload.
pub(super) fn place_words(place: Far) -> [u32; 3] {
    let (flag, number) = match place {
        Far::Arena(offset) => (IN_ARENA, offset),
        Far::Address(address) => (0, address),
    };
    let [low, high] = halves(number);
    [flag, low, high]
}

pub(super) fn place_from([flag, low, high]: [u32; 3]) -> Far {
    let number = low as usize | (high as usize) << 32;
    if flag == IN_ARENA { Far::Arena(number) } else { Far::Address(number) }
}

impl Engine {
    /// Where the others find `bytes` bytes at `memory`.
    pub(super) fn place_of(&self, memory: *const u8, bytes: usize) -> Far {
        match self.segment.offset_in_arenas(memory, bytes) {
            Some(offset) => Far::Arena(offset),
            None => Far::Address(memory as usize),
        }
    }

    /// Whether this rank reaches memory at `place` without the ring.
    fn reaches(&self, place: Far) -> bool {
        match (place, self.attach) {
            (Far::Arena(_), _) => self.segment.has_arenas(),
            (_, Attach::Allowed { fast }) => fast || !self.choices.every_rank_has_a_processor,
            _ => false,
        }
    }

    /// Takes an offer for a receive: by copying it, if its place can be reached, else in fragments.
    pub(super) fn take_offer(&mut self, request: Request, envelope: Envelope, offer: Offer) {
        self.operations[request].begin(envelope);
        if self.leave_in_place(request, offer) {
            return;
        }
        let source = envelope.source as usize;
        if !self.reaches(offer.place) {
            // No data follows an offer without bytes.
            self.operations[request].done = envelope.bytes == 0;
            let taken = numbers(kind::TAKE, [offer.request, request.0]);
            self.send_control(source, taken);
            return;
        }
        let bytes = envelope.bytes.min(self.operations[request].room);
        let shared = match offer.place {
            _ if bytes >= SHARED_FROM_BYTES => true,
            Far::Arena(_) => false,
            Far::Address(_) => bytes >= ATTACHED_SHARED_FROM_BYTES && self.posted.is_empty(),
        };
        match shared.then(|| self.free_slot()).flatten() {
            Some(slot) => self.copy_with_help(request, offer, bytes, slot),
            None => {
                if self.copy_from(request, offer.place, 0, bytes) {
                    self.finish_copy(request, offer.request);
                }
            }
        }
    }

    fn free_slot(&self) -> Option<usize> {
        (0..SLOTS).find(|&slot| self.transfers.iter().all(|one| one.slot != slot))
    }

    fn copy_with_help(&mut self, request: Request, offer: Offer, bytes: usize, slot: usize) {
        let operation = self.operations[request];
        let source = operation.envelope.source as usize;
        let chunk_bytes = chunk_bytes(bytes);
        let chunks = bytes.div_ceil(chunk_bytes) as u32;
        let generation = self.segment.block(self.me).slot(slot).open(chunks);
        let [low, high] = halves(bytes);
        let [flag, place_low, place_high] =
            place_words(self.place_of(operation.memory, operation.room));
        let asked = numbers(
            kind::HELP,
            [offer.request, slot as u32, generation, low, high, flag, place_low, place_high],
        );
        self.send_control(source, asked);
        let mut mine = 0;
        while let Some(chunk) = self.segment.block(self.me).slot(slot).claim(generation) {
            let start = chunk as usize * chunk_bytes;
            if !self.copy_from(request, offer.place, start, chunk_bytes.min(bytes - start)) {
                return;
            }
            mine += 1;
        }
        let helped = chunks - mine;
        self.transfers.push(Transfer { request, theirs: offer.request, slot, generation, helped });
        self.look_at_transfers();
    }

    /// Copies a part of a message into its receive. False if that failed, which ends the engine's work.
    fn copy_from(&mut self, request: Request, place: Far, start: usize, bytes: usize) -> bool {
        let operation = self.operations[request];
        // SAFETY: `start + bytes` is within the receive's room, which the caller of `start_receive` promised.
        let to = unsafe { operation.memory.add(start) };
        let copied = match place {
            // SAFETY: the sender's request holds this memory until we say that we are done with it.
            Far::Arena(offset) => unsafe {
                self.segment.copy_from_arenas(offset + start, to, bytes);
                Ok(())
            },
            Far::Address(address) => {
                let process = self.segment.block(operation.envelope.source as usize).process();
                // SAFETY: as above.
                unsafe { read_far(process, address + start, to, bytes) }
            }
        };
        copied.map_err(|error| self.fail(cannot_copy(operation.envelope.source, &error))).is_ok()
    }

    /// Copies chunks for a receiver that asked for help.
    pub(super) fn help(&mut self, source: usize, payload: &[u32]) {
        let [request, slot, generation, low, high, flag, place_low, place_high, ..] = *payload
        else {
            return;
        };
        let operation = self.operations[Request(request)];
        let bytes = low as usize | (high as usize) << 32;
        let place = place_from([flag, place_low, place_high]);
        if !self.reaches(place) {
            return;
        }
        while let Some(chunk) = self.segment.block(source).slot(slot as usize).claim(generation) {
            let start = chunk as usize * chunk_bytes(bytes);
            let length = chunk_bytes(bytes).min(bytes - start);
            // SAFETY: the caller of `start_send` promised `room` bytes, and the receiver counts no more than that.
            let from = unsafe { operation.memory.add(start) };
            let copied = match place {
                // SAFETY: the receiver keeps this memory until all claimed chunks are done.
                Far::Arena(offset) => unsafe {
                    self.segment.copy_to_arenas(from, offset + start, length);
                    Ok(())
                },
                Far::Address(address) => {
                    let process = self.segment.block(source).process();
                    // SAFETY: as above.
                    unsafe { write_far(process, address + start, from, length) }
                }
            };
            if let Err(error) = copied {
                self.fail(cannot_copy(source as u32, &error));
                return;
            }
            self.segment.block(source).slot(slot as usize).count_done();
        }
        self.wake(source);
    }

    /// Completes the receives whose helpers have done their chunks.
    pub(super) fn look_at_transfers(&mut self) {
        let mut index = 0;
        while index < self.transfers.len() {
            let one = self.transfers[index];
            if self.segment.block(self.me).slot(one.slot).done() == one.helped {
                self.transfers.swap_remove(index);
                self.finish_copy(one.request, one.theirs);
            } else {
                index += 1;
            }
        }
    }

    fn finish_copy(&mut self, request: Request, theirs: u32) {
        let operation = &mut self.operations[request];
        operation.moved = operation.envelope.bytes;
        operation.done = true;
        let source = operation.envelope.source as usize;
        self.send_control(source, numbers(kind::DONE, [theirs]));
    }

    /// Whether all ranks read and write each other's memory, as the fast way.
    #[inline]
    pub(crate) fn attaches(&self) -> bool {
        self.attach.is_fast()
    }

    /// Copies from another rank's memory. A failure ends the engine's work.
    ///
    /// # Safety
    /// `to` has room for `bytes` bytes, and the rank leaves its own alone meanwhile.
    pub(crate) unsafe fn read_from(
        &mut self,
        rank: usize,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let process = self.segment.block(rank).process();
        // SAFETY: our caller's promise.
        let read = unsafe { read_far(process, from, to, bytes) };
        read.map_err(|error| self.fail(cannot_copy(rank as u32, &error)))
    }

    /// Copies to another rank's memory. A failure ends the engine's work.
    ///
    /// # Safety
    /// `from` holds `bytes` bytes, and the rank expects them at `to`.
    pub(crate) unsafe fn write_to(
        &mut self,
        rank: usize,
        to: usize,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let process = self.segment.block(rank).process();
        // SAFETY: our caller's promise.
        let written = unsafe { write_far(process, to, from, bytes) };
        written.map_err(|error| self.fail(cannot_copy(rank as u32, &error)))
    }

    /// Keeps helpers away from memory that is about to be given up.
    pub(super) fn close_transfers(&mut self) {
        for one in std::mem::take(&mut self.transfers) {
            let slot: &HelpSlot = self.segment.block(self.me).slot(one.slot);
            slot.close(one.generation);
            let mut looks = 0;
            while slot.done() != one.helped && looks < HELPER_LOOKS {
                looks += 1;
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
