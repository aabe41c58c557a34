//! Operations that the provider has, or that wait for room there, each in a slot.
//!
//! Each slot has memory that the provider uses until the operation has completed. This memory keeps its address as long
//! as the endpoint is open. The provider identifies a completed operation by this address.

use std::ffi::c_void;
use std::ptr::NonNull;

use contract::{AtomicOperation, OneSidedOperation, Request};

/// The memory that an operation lends to the provider (`struct fi_context2`), followed by the number of the slot.
#[repr(C)]
struct Context {
    internal: [usize; 8],
    slot: u32,
}

/// The operation of a slot, as the provider identifies it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(NonNull<Context>);

impl Token {
    pub(crate) fn as_context(self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    /// Returns the token of a pointer from [`as_context`](Token::as_context). Null is no token: providers report it for
    /// events without an operation.
    pub(crate) fn of_context(context: *mut c_void) -> Option<Self> {
        NonNull::new(context.cast()).map(Token)
    }

    /// Returns the number of the slot.
    pub(crate) fn slot(self) -> u32 {
        // SAFETY: a token points to memory of `Slots`, which outlives the endpoint that reports it. The provider writes
        // only to `internal`.
        unsafe { (&raw const (*self.0.as_ptr()).slot).read() }
    }
}

/// An operation on memory of another rank.
pub(crate) struct Access {
    pub(crate) to: usize,
    pub(crate) key: u64,
    pub(crate) address: u64,
    pub(crate) operation: OneSidedOperation,
    /// The request that is done when it has ended.
    pub(crate) request: Request,
}

impl Access {
    /// Returns whether it reads, and whether it writes, as an atomic operation. Returns `None` for others.
    pub(crate) fn as_atomic(&self) -> Option<(bool, bool)> {
        match &self.operation {
            OneSidedOperation::Write(_) | OneSidedOperation::Read(_) => None,
            OneSidedOperation::Atomic { operation, fetched, .. } => {
                Some((fetched.is_some(), *operation != AtomicOperation::Read))
            }
            OneSidedOperation::CompareAndSwap { .. } => Some((true, true)),
        }
    }
}

pub(crate) enum Slot {
    Free,
    Access(Access),
    /// The bytes of a send to a rank: all of a short message, or the data of a long one.
    Send(Request, usize),
    /// The data of a receive whose message has its own tag.
    Data(Request),
    /// A word to another rank, or the RTS of a long message.
    Word,
    /// A receive for words.
    Words,
    /// A receive for a message of any sender.
    Message(Box<[u8]>),
}

#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    contexts: Vec<NonNull<Context>>,
    free: Vec<u32>,
}

impl Slots {
    /// Puts an operation into a free slot, and returns the slot's number.
    pub(crate) fn add(&mut self, slot: Slot) -> u32 {
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = slot;
            return number;
        }
        let number = self.slots.len() as u32;
        self.slots.push(slot);
        let context = Box::new(Context { internal: [0; 8], slot: number });
        self.contexts.push(NonNull::from(Box::leak(context)));
        number
    }

    pub(crate) fn token(&self, number: u32) -> Token {
        Token(self.contexts[number as usize])
    }

    pub(crate) fn get(&self, number: u32) -> &Slot {
        &self.slots[number as usize]
    }

    /// Takes the operation out of a slot, and frees that.
    pub(crate) fn take(&mut self, number: u32) -> Slot {
        self.free.push(number);
        std::mem::replace(&mut self.slots[number as usize], Slot::Free)
    }

    /// Returns the memory of the receive for messages in this slot.
    pub(crate) fn buffer_mut(&mut self, number: u32) -> Option<&mut [u8]> {
        match self.slots.get_mut(number as usize) {
            Some(Slot::Message(buffer)) => Some(buffer),
            _ => None,
        }
    }

    /// Returns whether the provider has not completed a word or an RTS yet.
    pub(crate) fn has_words(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Word))
    }

    /// Returns whether the provider has not completed a send or an operation on memory of another rank, which it does
    /// without another message. Receives do need one.
    pub(crate) fn has_incomplete(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Word | Slot::Send(..) | Slot::Access(_)))
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        for context in self.contexts.drain(..) {
            // SAFETY: `add` leaked this box. The engine closes its endpoint before its slots are dropped.
            drop(unsafe { Box::from_raw(context.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_slot_and_numbers_are_used_again() {
        let mut slots = Slots::default();
        let numbers: Vec<u32> = (0..3).map(|_| slots.add(Slot::Word)).collect();
        assert_eq!(numbers, [0, 1, 2]);
        for &number in &numbers {
            let context = slots.token(number).as_context();
            assert_eq!(Token::of_context(context).map(Token::slot), Some(number));
        }
        assert!(slots.has_words() && slots.has_incomplete());
        assert!(matches!(slots.take(1), Slot::Word));
        assert_eq!((slots.add(Slot::Words), slots.add(Slot::Words)), (1, 3));
        assert!(Token::of_context(std::ptr::null_mut()).is_none());
    }

    #[test]
    fn what_the_provider_completes_by_itself_is_incomplete_until_then() {
        let mut slots = Slots::default();
        slots.add(Slot::Words);
        slots.add(Slot::Message(Box::new([0; 4])));
        slots.add(Slot::Data(Request(7)));
        assert!(!slots.has_incomplete() && !slots.has_words());
        let sent = slots.add(Slot::Send(Request(1), 2));
        assert!(slots.has_incomplete() && !slots.has_words());
        assert!(matches!(slots.take(sent), Slot::Send(Request(1), 2)));
        assert!(!slots.has_incomplete());
    }
}
