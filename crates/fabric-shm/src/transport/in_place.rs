//! In-place receives: the receiver reads messages in their sender's arena (decision 0010).
//!
//! Every rank can read a message in an arena, so a receive that only reads it once need not copy it. The receiver keeps
//! the RTS instead, and sends its FIN when the program releases the message.

use std::ptr::NonNull;

use contract::{Error, InPlace, Request, Result};
use engine::{Location, Messages, Rts};

use super::Rings;
use super::message::{kind, numbers};

/// A message in its sender's arena that the program of its receiver reads. Its sender waits until it is released.
#[derive(Debug)]
pub(super) struct InPlaceMessage {
    source: usize,
    /// The sender's request.
    theirs: u32,
    /// Its place in the arenas, which this rank has mapped until its process ends.
    memory: NonNull<u8>,
    bytes: usize,
}

impl Rings {
    /// Leaves a message with an RTS in place if the receive allows that and both ranks can.
    pub(super) fn keep_in_place(
        &mut self,
        messages: &mut Messages,
        request: Request,
        rts: Rts,
    ) -> bool {
        let operation = &mut messages.transfers[request];
        let Location::Arena(place) = rts.location else { return false };
        let bytes = operation.envelope.bytes;
        if !operation.in_place || bytes > operation.room {
            return false;
        }
        // A place outside the arenas is refused where the message would be copied.
        let Some(memory) = self.segment.in_arenas(place, bytes) else { return false };
        operation.moved = bytes;
        operation.done = true;
        let source = self.place_of(operation.envelope.source);
        self.in_place
            .push((request, InPlaceMessage { source, theirs: rts.request, memory, bytes }));
        true
    }

    /// Returns the message of a receive that has just ended, if it stayed in place.
    pub fn lend(&mut self, request: Request) -> Option<InPlace> {
        let at = self.in_place.iter().position(|(lent_to, _)| *lent_to == request)?;
        let (_, message) = self.in_place.swap_remove(at);
        let free = self.lent.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.lent.push(None);
            self.lent.len() - 1
        });
        let (memory, bytes) = (message.memory, message.bytes);
        self.lent[number] = Some(message);
        // SAFETY: `keep_in_place` has checked the range. The sender's request keeps these bytes unchanged until its FIN,
        // which only `give_back` sends, and that takes the message. What the sender wrote before its RTS is visible,
        // because the RTS came through its ring (release and acquire there).
        Some(unsafe { InPlace::new(number, memory, bytes) })
    }

    /// Gives the memory back to the sender.
    ///
    /// # Errors
    /// [`Error::UnknownRequest`] if this rank has lent no such message.
    pub fn give_back(&mut self, messages: &mut Messages, message: InPlace) -> Result<()> {
        let lent = self.lent.get_mut(message.number()).and_then(Option::take);
        let InPlaceMessage { source, theirs, .. } = lent.ok_or(Error::UnknownRequest)?;
        // Everything that was read of it was read before the cell of this FIN is released.
        self.send_control(messages, source, numbers(kind::FIN, [theirs]));
        Ok(())
    }
}
