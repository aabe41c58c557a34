//! The messages that this process has sent and received, to be compared with those of the others at the end of the run
//! (decision 0150).

use std::cell::{Cell, RefCell};

use call_stack::CallSite;

use crate::datatype::Signature;

/// Number of messages of each direction up to which all are noted; of a run that is checked, and of others.
const NOTED_MAX: [u64; 2] = [1 << 20, 256];

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
#[derive(Default)]
pub struct MessageLog {
    balance: Cell<u64>,
    sent: Cell<u64>,
    received: Cell<u64>,
    first_sent: RefCell<Vec<Noted>>,
    first_received: RefCell<Vec<Noted>>,
    is_checked: Cell<bool>,
}

/// A word for a message. That of bytes is 0, because they match everything.
#[inline]
fn word(signature: Signature, from: u32, to: u32) -> u64 {
    let pair = u64::from(from).wrapping_mul(0xd134_2543_de82_ef95);
    let pair = pair.wrapping_add(u64::from(to).wrapping_mul(0xaf25_1af3_b0f0_25b5)) | 1;
    signature.bits().rotate_left(8).wrapping_mul(pair)
}

impl MessageLog {
    /// Records that a message was sent by this process, whose rank is `me`.
    #[inline]
    pub(crate) fn note_sent(&self, me: usize, message: Noted) {
        let word = word(message.signature, me as u32, message.other);
        self.balance.set(self.balance.get().wrapping_add(word));
        let number = self.sent.replace(self.sent.get() + 1);
        if number < self.noted_max() {
            self.first_sent.borrow_mut().push(message);
        }
    }

    /// Records that a message was received.
    #[inline]
    pub(crate) fn note_received(&self, me: usize, message: Noted) {
        let word = word(message.signature, message.other, me as u32);
        self.balance.set(self.balance.get().wrapping_sub(word));
        let number = self.received.replace(self.received.get() + 1);
        if number < self.noted_max() {
            self.first_received.borrow_mut().push(message);
        }
    }

    /// Returns two words whose sums over all processes are zero if every message was received, as the type that was sent.
    pub(crate) fn residue(&self) -> [u64; 2] {
        [self.balance.get(), self.sent.get().wrapping_sub(self.received.get())]
    }

    /// Lets many more messages be noted.
    pub(crate) fn be_checked(&self) {
        self.is_checked.set(true);
    }

    #[inline]
    fn noted_max(&self) -> u64 {
        NOTED_MAX[usize::from(!self.is_checked.get())]
    }

    /// Returns the sent messages, and the received ones in the order in which their receives have ended. `None` if there
    /// were too many to note all.
    pub(crate) fn all_noted(&self) -> Option<[Vec<Noted>; 2]> {
        let most = self.noted_max();
        let are_all = self.sent.get() <= most && self.received.get() <= most;
        are_all.then(|| [self.first_sent.borrow().clone(), self.first_received.borrow().clone()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{Datatype, Kind};

    fn noted(other: u32, kind: Kind) -> Noted {
        let signature = Datatype::basic(kind).signature(6);
        Noted { context: 0, tag: 0, other, signature, site: CallSite::default() }
    }

    #[test]
    fn what_was_sent_and_received_as_the_same_type_has_the_sum_zero() {
        let sums = |kinds: [Kind; 4]| {
            let (zero, one) = (MessageLog::default(), MessageLog::default());
            zero.note_sent(0, noted(1, kinds[0]));
            one.note_received(1, noted(0, kinds[1]));
            one.note_sent(1, noted(0, kinds[2]));
            zero.note_received(0, noted(1, kinds[3]));
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
