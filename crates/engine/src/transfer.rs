//! Transfers: the engine's record of each until the program has completed it.
#![allow(unsafe_code)]

use std::hash::{Hash, Hasher};
use std::ops::Range;

use contract::{
    Completion, Destination, Envelope, Readable, Request, Selector, Untrusted, Writable,
};

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A send to a rank.
    Send {
        /// The rank.
        to: u32,
    },
    /// A receive.
    Receive(Selector),
    /// An operation on the memory of a rank, which the network executes.
    Access {
        /// The rank.
        to: u32,
    },
}

/// One transfer.
///
/// Its memory is used only while it is in the table and not done.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Its direction.
    pub direction: Direction,
    /// The user's memory; never written for a send.
    pub memory: *mut u8,
    /// Length of that memory.
    pub room: usize,
    /// Number of bytes that have arrived or left.
    pub moved: usize,
    /// Envelope of the message, once it is known.
    pub envelope: Envelope,
    /// True once it has ended, and while its place in the table is free.
    pub done: bool,
    /// True if a send is done only once a receive has matched it.
    pub is_synchronous: bool,
    /// True if a message may stay in its sender's memory.
    pub in_place: bool,
    /// True while the other rank may name it: the RTS of a send or the CTS of a receive is not answered yet.
    is_announced: bool,
}

/// The source of no message: that of a receive that has matched none.
const NO_SOURCE: u32 = u32::MAX;

impl Transfer {
    /// A send of rank `from`.
    #[inline(always)]
    pub fn send(from: usize, to: Destination, data: Readable, until: Completion) -> Self {
        let bytes = data.bytes();
        let Destination { rank, context, tag } = to;
        Transfer {
            direction: Direction::Send { to: rank as u32 },
            memory: data.as_ptr().cast_mut(),
            room: bytes,
            moved: 0,
            envelope: Envelope { context, source: from as u32, tag, bytes, room: bytes },
            done: false,
            is_synchronous: until == Completion::Synchronous,
            in_place: false,
            is_announced: false,
        }
    }

    /// A receive. If `in_place`, the message may stay in its sender's memory.
    #[inline(always)]
    pub fn receive(selector: Selector, room: &Writable, in_place: bool) -> Self {
        Transfer {
            direction: Direction::Receive(selector),
            memory: room.as_mut_ptr(),
            room: room.bytes(),
            moved: 0,
            envelope: Envelope { source: NO_SOURCE, ..Envelope::default() },
            done: false,
            is_synchronous: false,
            in_place,
            is_announced: false,
        }
    }

    /// An operation on memory of rank `to`, which has no message.
    pub fn access(to: usize) -> Self {
        let room = Writable::empty();
        let receive =
            Transfer::receive(Selector { context: 0, source: None, tag: None }, &room, false);
        let direction = Direction::Access { to: to as u32 };
        Transfer { direction, envelope: Envelope::default(), ..receive }
    }

    /// Records the message that a receive has matched.
    #[inline(always)]
    pub fn begin(&mut self, envelope: Envelope) {
        self.envelope = Envelope { room: self.room, ..envelope };
        self.moved = 0;
    }

    /// Returns whether a receive has matched a message.
    #[inline]
    pub fn is_matched(&self) -> bool {
        self.envelope.source != NO_SOURCE
    }

    /// Returns the bytes of a send.
    #[inline(always)]
    pub fn data(&self) -> &[u8] {
        // SAFETY: the creator of a send's memory promised these bytes until the transfer is done.
        unsafe { std::slice::from_raw_parts(self.memory, self.room) }
    }

    /// Returns the part of a receive's room that is in `range`.
    #[inline]
    pub fn room_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        debug_assert!(matches!(self.direction, Direction::Receive(_)), "a send is only read");
        let end = range.end.min(self.room);
        let start = range.start.min(end);
        // SAFETY: `start..end` is within the room, which the creator of a receive's memory promised to nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.memory.add(start), end - start) }
    }

    /// Appends the next bytes of the message that a receive has matched. Those beyond its room are dropped.
    #[inline]
    pub fn append(&mut self, data: &[u8]) {
        let kept = data.len().min(self.room.saturating_sub(self.moved));
        if kept > 0 {
            // SAFETY: `moved + kept` is within the room. `copy`, because a rank that sends to itself may send from the
            // memory it receives into.
            unsafe { std::ptr::copy(data.as_ptr(), self.memory.add(self.moved), kept) };
        }
        self.moved += data.len();
        self.done = self.moved >= self.envelope.bytes;
    }
}

/// The transfers in progress. Their places are reused, so that a program in its steady state allocates nothing.
#[derive(Default)]
pub struct Transfers {
    places: Vec<Transfer>,
    free: Vec<u32>,
}

impl Transfers {
    /// Adds a transfer.
    #[inline(always)]
    pub fn start(&mut self, transfer: Transfer) -> Request {
        if let Some(index) = self.free.pop() {
            self.places[index as usize] = transfer;
            return Request(index);
        }
        self.places.push(transfer);
        Request((self.places.len() - 1) as u32)
    }

    /// Frees a transfer that is done, and returns its envelope.
    #[inline(always)]
    pub fn end(&mut self, request: Request) -> Envelope {
        debug_assert!(self[request].done, "a request was ended before it was done");
        self.free.push(request.0);
        self[request].envelope
    }

    /// Frees a receive that has matched nothing.
    pub fn forget(&mut self, request: Request) {
        // A free place is done, so nothing that another rank sends can name it.
        self[request].done = true;
        self.free.push(request.0);
    }

    /// Records that a transport announces a transfer to the other rank, by the RTS of a send or the CTS of a receive. That
    /// rank answers once, and names the request.
    pub fn announce(&mut self, request: Request) {
        self[request].is_announced = true;
    }

    /// Returns the announced send to rank `to` that this rank names, or `None` if there is none: it may name any number.
    pub fn announced_send(&self, request: Untrusted<u32>, to: usize) -> Option<Request> {
        let request = Request(request.below(self.places.len() as u32)?);
        let transfer = &self[request];
        let is_it = transfer.direction == Direction::Send { to: to as u32 }
            && transfer.is_announced
            && !transfer.done;
        is_it.then_some(request)
    }

    /// Takes the answer of rank `to` to a send's announcement. Returns the send, or `None` if there is no such one.
    pub fn answered_send(&mut self, request: Untrusted<u32>, to: usize) -> Option<Request> {
        let request = self.announced_send(request, to)?;
        self[request].is_announced = false;
        Some(request)
    }

    /// Takes the answer of rank `from` to the announcement of a receive that has matched a message of this rank. Returns
    /// the receive, or `None` if there is no such one.
    pub fn answered_receive(&mut self, request: Untrusted<u32>, from: usize) -> Option<Request> {
        let request = Request(request.below(self.places.len() as u32)?);
        let transfer = &mut self[request];
        let is_it = matches!(transfer.direction, Direction::Receive(_))
            && transfer.envelope.source == from as u32
            && transfer.is_announced
            && !transfer.done;
        transfer.is_announced &= !is_it;
        is_it.then_some(request)
    }

    /// Adds the progress of each transfer to a hash.
    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        self.places.iter().for_each(|one| (one.moved, one.done).hash(hasher));
        self.free.len().hash(hasher);
    }

    /// Returns the ranks to which sends and accesses are in progress.
    pub(crate) fn outgoing(&self) -> impl Iterator<Item = usize> {
        self.places.iter().filter(|one| !one.done).filter_map(|one| match one.direction {
            Direction::Send { to } | Direction::Access { to } => Some(to as usize),
            Direction::Receive(_) => None,
        })
    }
}

impl std::ops::Index<Request> for Transfers {
    type Output = Transfer;

    #[inline]
    fn index(&self, request: Request) -> &Transfer {
        &self.places[request.index()]
    }
}

impl std::ops::IndexMut<Request> for Transfers {
    #[inline]
    fn index_mut(&mut self, request: Request) -> &mut Transfer {
        &mut self.places[request.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive() -> Transfer {
        let selector = Selector { context: 0, source: None, tag: None };
        Transfer::receive(selector, &Writable::empty(), false)
    }

    fn send(to: usize) -> Transfer {
        let to = Destination { rank: to, context: 0, tag: 0 };
        Transfer::send(0, to, Readable::empty(), Completion::Local)
    }

    #[test]
    fn numbers_are_used_again_and_no_two_operations_share_one() {
        let mut table = Transfers::default();
        let (first, second) = (table.start(receive()), table.start(receive()));
        assert_ne!(first, second);
        table[first].done = true;
        table.end(first);
        assert_eq!(table.start(receive()), first);
        table.forget(second);
        assert_eq!(table.start(send(3)), second);
    }

    #[test]
    fn what_another_rank_names_was_announced_to_it_and_is_answered_once_or_is_nothing() {
        let mut table = Transfers::default();
        let (sent, received, free) =
            (table.start(send(3)), table.start(receive()), table.start(receive()));
        let named = |request: Request| Untrusted::new(request.0);
        assert_eq!(table.answered_send(named(sent), 3), None, "no RTS was sent");
        table.announce(sent);
        assert_eq!(table.announced_send(named(sent), 3), Some(sent));
        assert_eq!(table.answered_send(named(sent), 2), None);
        assert_eq!(table.answered_receive(named(sent), 3), None);
        assert_eq!(table.answered_send(named(sent), 3), Some(sent));
        assert_eq!(table.answered_send(named(sent), 3), None, "it was answered");
        table.announce(received);
        assert_eq!(table.answered_receive(named(received), 3), None, "it has matched no message");
        table[received].begin(Envelope { source: 3, ..Envelope::default() });
        assert_eq!(table.answered_receive(named(received), 2), None);
        assert_eq!(table.answered_receive(named(received), 3), Some(received));
        assert_eq!(table.answered_receive(named(received), 3), None, "it was answered");
        table.announce(sent);
        table.forget(free);
        table[sent].done = true;
        for request in [named(sent), named(free), Untrusted::new(77)] {
            let answered = (table.answered_send(request, 3), table.answered_receive(request, 3));
            assert_eq!(answered, (None, None));
        }
    }

    #[test]
    fn a_receive_keeps_what_it_has_room_for() {
        let mut room = [0; 3];
        // SAFETY: the room outlives the transfer.
        let memory = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
        let mut receive =
            Transfer::receive(Selector { context: 0, source: None, tag: None }, &memory, false);
        receive.begin(Envelope { bytes: 5, ..Envelope::default() });
        receive.append(&[1, 2]);
        assert!(!receive.done);
        receive.append(&[3, 4, 5]);
        assert!(receive.done && receive.envelope.is_cut());
        assert_eq!((receive.room_mut(2..9).len(), receive.room_mut(7..9).len()), (1, 0));
        assert_eq!(room, [1, 2, 3]);
    }
}
