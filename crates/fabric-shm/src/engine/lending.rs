//! Messages that their receiver reads where their sender has them.
//!
//! An offered message in an arena can be read by everybody, so a receive that only wants to read it once need not copy it: the
//! offer is kept instead, and answered when the reader is done.

use contract::Request;

use super::Engine;
use super::copy::Far;
use super::message::kind;
use super::send::numbers;
use super::transfer::Offer;

/// A message in its sender's arena, which its receiver is reading. Its sender waits until it is given back.
#[derive(Debug)]
pub(crate) struct Loan {
    source: usize,
    /// The sender's request.
    theirs: u32,
    offset: usize,
    bytes: usize,
}

impl Engine {
    /// Leaves an offered message where it is, if the receive wants that and both can.
    pub(super) fn leave_in_place(&mut self, request: Request, offer: Offer) -> bool {
        let operation = &mut self.operations[request];
        let Far::Arena(offset) = offer.place else { return false };
        let bytes = operation.envelope.bytes;
        if !operation.in_place || bytes > operation.room || !self.segment.has_arenas() {
            return false;
        }
        operation.moved = bytes;
        operation.done = true;
        let source = operation.envelope.source as usize;
        self.loans.push((request, Loan { source, theirs: offer.request, offset, bytes }));
        true
    }

    /// What a receive that has just ended was lent, if its message stayed in place.
    pub(crate) fn take_loan(&mut self, request: Request) -> Option<Loan> {
        let at = self.loans.iter().position(|(lent_to, _)| *lent_to == request)?;
        Some(self.loans.swap_remove(at).1)
    }

    /// The bytes of a message in place.
    pub(crate) fn view<'a>(&'a self, loan: &'a Loan) -> &'a [u8] {
        let memory = self.segment.at_offset(loan.offset, loan.bytes);
        let memory = memory.expect("an offer lies in the arenas, which this rank has mapped");
        // SAFETY: `at_offset` has checked the range. The sender's request keeps these bytes as they are until it is answered,
        // which only `give_back` does, and that takes the loan. What the sender wrote before its offer is visible, for the
        // offer came through its ring (release and acquire there).
        unsafe { std::slice::from_raw_parts(memory, loan.bytes) }
    }

    /// Lets the sender have its memory back.
    pub(crate) fn give_back(&mut self, loan: Loan) {
        // Whatever was read of it was read before the cell of this answer is released.
        self.send_control(loan.source, numbers(kind::DONE, [loan.theirs]));
    }
}
