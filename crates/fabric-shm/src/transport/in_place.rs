//! In-place receives: the receiver reads messages in their sender's arena (decision 0010).
//!
//! Every rank can read a message in an arena, so a receive that only reads it once need not copy it. The receiver keeps
//! the RTS instead, and sends its FIN when the program releases the message.

use contract::Request;
use engine::{Location, Messages, Rts};

use super::Rings;
use super::message::{kind, numbers};

/// A message in its sender's arena that the program of its receiver reads. Its sender waits until it is released.
#[derive(Debug)]
pub(crate) struct InPlaceMessage {
    source: usize,
    /// The sender's request.
    theirs: u32,
    offset: usize,
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
        let Location::Arena(offset) = rts.location else { return false };
        let bytes = operation.envelope.bytes;
        if !operation.in_place || bytes > operation.room || !self.segment.seat().has_arenas() {
            return false;
        }
        operation.moved = bytes;
        operation.done = true;
        let source = operation.envelope.source as usize;
        self.in_place
            .push((request, InPlaceMessage { source, theirs: rts.request, offset, bytes }));
        true
    }

    /// Returns the message of a receive that has just ended, if it stayed in place.
    pub(crate) fn take_in_place(&mut self, request: Request) -> Option<InPlaceMessage> {
        let at = self.in_place.iter().position(|(lent_to, _)| *lent_to == request)?;
        Some(self.in_place.swap_remove(at).1)
    }

    /// Returns the bytes of an in-place message.
    pub(crate) fn view<'a>(&'a self, message: &'a InPlaceMessage) -> &'a [u8] {
        let memory = self.segment.seat().memory_at(message.offset as u64, message.bytes);
        let memory =
            memory.expect("an in-place message lies in the arenas, which this rank has mapped");
        // SAFETY: `memory_at` has checked the range. The sender's request keeps these bytes unchanged until its FIN,
        // which only `release` sends, and that takes the message. What the sender wrote before its RTS is visible,
        // because the RTS came through its ring (release and acquire there).
        unsafe { std::slice::from_raw_parts(memory.as_ptr(), message.bytes) }
    }

    /// Gives the memory back to the sender.
    pub(crate) fn release(&mut self, messages: &mut Messages, message: InPlaceMessage) {
        // Everything that was read of it was read before the cell of this FIN is released.
        self.send_control(messages, message.source, numbers(kind::FIN, [message.theirs]));
    }
}
