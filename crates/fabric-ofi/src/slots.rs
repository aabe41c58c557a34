//! Operations under way, each in a slot. The number of a slot is the number of its request.
//!
//! Each slot has memory that the provider uses until the operation has completed. This memory keeps its address as long
//! as the endpoint is open. The provider identifies a completed operation by this address.

use std::ffi::c_void;
use std::ptr::NonNull;

use contract::{
    AtomicOperation, Envelope, OneSidedOperation, Readable, Request, Selector, Writable,
};

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

/// The data of a send.
pub(crate) enum Content {
    /// Memory of the program.
    Lent(Readable),
    /// A copy, for a message of this rank to itself, whose send does not wait for the receive.
    Own(Box<[u8]>),
}

impl Content {
    pub(crate) fn readable(&self) -> Readable {
        match self {
            Content::Lent(data) => *data,
            // SAFETY: the copy is neither moved nor changed until the slot is freed.
            Content::Own(data) => unsafe { Readable::new(data.as_ptr(), data.len()) },
        }
    }
}

/// The stage of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendStage {
    /// The provider has it, or it waits in the queue for room there.
    Posted,
    /// The RTS of the long message with this number was sent. The data wait for the receiver's CTS.
    Waits(u32),
    Done,
}

/// The stage of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiveStage {
    /// It waits until the provider has room for it.
    Queued,
    /// The engine matches messages against it, and the provider does not get it.
    Retained,
    /// The provider has it and matches messages against it.
    Posted,
    /// The RTS of its message has arrived. The data are under way.
    Data,
    /// The provider was requested to cancel it, but may find its message first.
    Cancelling,
    Cancelled,
    Done,
}

pub(crate) struct Sending {
    pub(crate) to: usize,
    pub(crate) envelope: Envelope,
    pub(crate) content: Content,
    pub(crate) stage: SendStage,
    /// True if the request has ended. The slot is then freed when the provider has completed the operation.
    pub(crate) is_forgotten: bool,
}

impl Sending {
    /// Returns whether the program may change the data. A copy may still be under way.
    pub(crate) fn is_done(&self) -> bool {
        self.stage == SendStage::Done || matches!(self.content, Content::Own(_))
    }
}

pub(crate) struct Receiving {
    pub(crate) selector: Selector,
    pub(crate) room: Writable,
    /// The engine's memory that the provider fills instead of `room`, if a message may be longer than `room`.
    pub(crate) bounce: Option<Vec<u8>>,
    pub(crate) envelope: Option<Envelope>,
    pub(crate) stage: ReceiveStage,
}

impl Receiving {
    /// Returns the number of bytes of its message that the room contains. The envelope of the message must be known.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.envelope.map_or(0, |envelope| envelope.bytes.min(envelope.room))
    }
}

/// An operation on memory of another rank.
pub(crate) struct Access {
    pub(crate) to: usize,
    pub(crate) key: u64,
    pub(crate) address: u64,
    pub(crate) operation: OneSidedOperation,
    pub(crate) is_done: bool,
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
    Send(Sending),
    Receive(Receiving),
    /// A word to another engine, or the RTS of a long message.
    Word,
    /// A receive for words.
    Words,
    /// The receive that accepts every message.
    Any,
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

    pub(crate) fn free(&mut self, number: u32) {
        self.slots[number as usize] = Slot::Free;
        self.free.push(number);
    }

    /// Returns the send with this number.
    pub(crate) fn send_mut(&mut self, number: u32) -> Option<&mut Sending> {
        match self.slots.get_mut(number as usize) {
            Some(Slot::Send(send)) => Some(send),
            _ => None,
        }
    }

    /// Returns the operation on another rank's memory with this number.
    pub(crate) fn access_mut(&mut self, number: u32) -> Option<&mut Access> {
        match self.slots.get_mut(number as usize) {
            Some(Slot::Access(access)) => Some(access),
            _ => None,
        }
    }

    /// Sets the stage of the receive with this number.
    pub(crate) fn set_stage(&mut self, number: u32, stage: ReceiveStage) {
        self.receive_mut(number).into_iter().for_each(|receive| receive.stage = stage);
    }

    /// Returns the receive with this number.
    pub(crate) fn receive_mut(&mut self, number: u32) -> Option<&mut Receiving> {
        match self.slots.get_mut(number as usize) {
            Some(Slot::Receive(receive)) => Some(receive),
            _ => None,
        }
    }

    pub(crate) fn is_done(&self, request: Request) -> bool {
        match self.get(request.0) {
            Slot::Send(send) => send.is_done(),
            Slot::Receive(receive) => receive.stage == ReceiveStage::Done,
            Slot::Access(access) => access.is_done,
            _ => panic!("no request has this number"),
        }
    }

    /// Returns the envelope of a request that is done.
    pub(crate) fn envelope(&self, request: Request) -> Envelope {
        let envelope = match self.get(request.0) {
            Slot::Send(send) => Some(send.envelope),
            Slot::Receive(receive) => receive.envelope,
            Slot::Access(_) => Some(Envelope::default()),
            _ => None,
        };
        envelope.expect("the request is done")
    }

    /// Returns the sends that are not done.
    pub(crate) fn pending_sends(&self) -> impl Iterator<Item = &Sending> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Send(send) if !send.is_done() => Some(send),
            _ => None,
        })
    }

    /// Returns the operations on memory of other ranks that are not done.
    pub(crate) fn pending_accesses(&self) -> impl Iterator<Item = &Access> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Access(access) if !access.is_done => Some(access),
            _ => None,
        })
    }

    /// Returns whether the provider has not completed a word or an RTS yet.
    pub(crate) fn has_words(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Word))
    }

    /// Returns whether the provider has not completed a send or an operation on memory of another rank, which it does
    /// without another message. Receives and long messages without their receive do need one.
    pub(crate) fn has_incomplete(&self) -> bool {
        self.slots.iter().any(|slot| match slot {
            Slot::Word => true,
            Slot::Send(send) => send.stage == SendStage::Posted,
            Slot::Access(access) => !access.is_done,
            Slot::Free | Slot::Receive(_) | Slot::Words | Slot::Any => false,
        })
    }

    /// Returns the send of long message `number` to rank `to`, if its data wait for the receiver's CTS.
    pub(crate) fn held(&self, to: usize, number: u32) -> Option<u32> {
        let is_it = |slot: &Slot| match slot {
            Slot::Send(send) => send.to == to && send.stage == SendStage::Waits(number),
            _ => false,
        };
        self.slots.iter().position(is_it).map(|slot| slot as u32)
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
        slots.free(1);
        assert_eq!((slots.add(Slot::Any), slots.add(Slot::Any)), (1, 3));
        assert!(Token::of_context(std::ptr::null_mut()).is_none());
    }

    #[test]
    fn a_held_send_is_found_by_its_receiver_and_number() {
        let mut slots = Slots::default();
        for (to, number) in [(1, 7), (2, 7), (1, 8)] {
            slots.add(Slot::Send(Sending {
                to,
                envelope: Envelope::default(),
                content: Content::Lent(Readable::empty()),
                stage: SendStage::Waits(number),
                is_forgotten: false,
            }));
        }
        assert_eq!(
            (slots.held(2, 7), slots.held(1, 8), slots.held(2, 8)),
            (Some(1), Some(2), None)
        );
        assert_eq!(slots.pending_sends().count(), 3);
    }

    #[test]
    fn what_the_provider_completes_by_itself_is_incomplete_until_then() {
        let mut slots = Slots::default();
        let operation = OneSidedOperation::Read(Writable::empty());
        let (to, key, address) = (1, 2, 3);
        let access = Access { to, key, address, operation, is_done: false };
        let number = slots.add(Slot::Access(access));
        assert!(slots.has_incomplete());
        slots.access_mut(number).unwrap().is_done = true;
        assert!(!slots.has_incomplete());
        let send = Sending {
            to,
            envelope: Envelope::default(),
            content: Content::Lent(Readable::empty()),
            stage: SendStage::Posted,
            is_forgotten: false,
        };
        let number = slots.add(Slot::Send(send));
        assert!(slots.has_incomplete());
        // Only the receiver can end this wait, by a message.
        slots.send_mut(number).unwrap().stage = SendStage::Waits(7);
        assert!(!slots.has_incomplete());
    }
}
