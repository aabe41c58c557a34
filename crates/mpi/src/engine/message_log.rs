//! The messages that this process has sent and received, to be compared with those of the others at the end of the run
//! (decision 0150).

use std::cell::{Cell, RefCell};

use call_stack::CallSite;
use contract::{Destination, Envelope};

use crate::datatype::Signature;

/// Number of messages of each direction up to which all are noted, and in a run that is checked.
const NOTED_MAX: u64 = 256;
const NOTED_MAX_CHECKED: u64 = 1 << 20;

/// A message, seen from one of its sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) context: u32,
    pub(crate) tag: u32,
    /// The rank of the run on the other side.
    pub(crate) other: u32,
    pub(crate) signature: Signature,
    pub(crate) site: CallSite,
}

/// All messages of this process in contexts of its run.
pub struct MessageLog {
    me: u64,
    balance: Cell<u64>,
    sent: Cell<u64>,
    received: Cell<u64>,
    /// Number of messages of each direction up to which all are noted.
    noted_max: Cell<u64>,
    first_sent: RefCell<Vec<Noted>>,
    first_received: RefCell<Vec<Noted>>,
}

/// Factors for the two ranks of a message.
const FROM: u64 = 0xd134_2543_de82_ef95;
const TO: u64 = 0xaf25_1af3_b0f0_25b4;

/// Returns a word for a message. That of bytes is 0, because they match everything.
#[inline(always)]
fn word(signature: Signature, from: u64, to: u64) -> u64 {
    let pair = from.wrapping_mul(FROM).wrapping_add(to.wrapping_mul(TO)) | 1;
    signature.bits().rotate_left(8).wrapping_mul(pair)
}

impl MessageLog {
    /// Creates that of rank `me`.
    pub(super) fn new(me: usize) -> Self {
        MessageLog {
            me: me as u64,
            balance: Cell::new(0),
            sent: Cell::new(0),
            received: Cell::new(0),
            noted_max: Cell::new(NOTED_MAX),
            first_sent: RefCell::default(),
            first_received: RefCell::default(),
        }
    }

    /// Records that a message was sent by this process.
    #[inline(always)]
    pub(crate) fn note_sent(&self, to: Destination, signature: Signature) {
        let word = word(signature, self.me, to.rank as u64);
        self.balance.set(self.balance.get().wrapping_add(word));
        let number = self.sent.get();
        self.sent.set(number + 1);
        if number < self.noted_max.get() {
            let other = to.rank as u32;
            note(&self.first_sent, (to.context, to.tag, other), signature);
        }
    }

    /// Records that a message was received.
    #[inline(always)]
    pub(crate) fn note_received(&self, envelope: &Envelope, signature: Signature) {
        let word = word(signature, envelope.source.into(), self.me);
        self.balance.set(self.balance.get().wrapping_sub(word));
        let number = self.received.get();
        self.received.set(number + 1);
        if number < self.noted_max.get() {
            let Envelope { context, tag, source, .. } = *envelope;
            note(&self.first_received, (context, tag, source), signature);
        }
    }

    /// Returns two words whose sums over all processes are zero if every message was received, as the type that was sent.
    pub(crate) fn residue(&self) -> [u64; 2] {
        [self.balance.get(), self.sent.get().wrapping_sub(self.received.get())]
    }

    /// Lets many more messages be noted.
    pub(crate) fn be_checked(&self) {
        self.noted_max.set(NOTED_MAX_CHECKED);
    }

    /// Returns the sent messages, and the received ones in the order in which their receives have ended. `None` if there
    /// were too many to note all.
    pub(crate) fn all_noted(&self) -> Option<[Vec<Noted>; 2]> {
        let most = self.noted_max.get();
        let are_all = self.sent.get() <= most && self.received.get() <= most;
        are_all.then(|| [self.first_sent.borrow().clone(), self.first_received.borrow().clone()])
    }
}

/// Notes one of the first messages.
#[cold]
#[inline(never)]
fn note(first: &RefCell<Vec<Noted>>, (context, tag, other): (u32, u32, u32), signature: Signature) {
    let site = CallSite::latest();
    first.borrow_mut().push(Noted { context, tag, other, signature, site });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Kind};

    fn sixfold(kind: Kind) -> Signature {
        Datatype::basic(kind).signature(6)
    }

    #[test]
    fn what_was_sent_and_received_as_the_same_type_has_the_sum_zero() {
        let to = |rank| Destination { rank, context: 0, tag: 0 };
        let of = |source| Envelope { source, ..Envelope::default() };
        let sums = |kinds: [Kind; 4]| {
            let (zero, one) = (MessageLog::new(0), MessageLog::new(1));
            zero.note_sent(to(1), sixfold(kinds[0]));
            one.note_received(&of(0), sixfold(kinds[1]));
            one.note_sent(to(0), sixfold(kinds[2]));
            zero.note_received(&of(1), sixfold(kinds[3]));
            let [zero, one] = [zero.residue(), one.residue()];
            [zero[0].wrapping_add(one[0]), zero[1].wrapping_add(one[1])]
        };
        let (int, float) = (Kind::Signed(4), Kind::Float(4));
        assert_eq!(sums([int, int, float, float]), [0, 0]);
        assert_ne!(sums([int, float, int, int])[0], 0);
        // Two mistakes that are the contrary of each other.
        assert_ne!(sums([int, float, float, int])[0], 0);
    }
}
