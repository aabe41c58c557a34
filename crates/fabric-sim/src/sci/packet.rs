//! Packets, and the transactions to which they belong.

use contract::Time;

/// Length of a symbol in bytes. A link carries one symbol in a clock cycle.
pub const SYMBOL_BYTES: u32 = 2;
/// Length in symbols of the header of a request or response with its check.
pub const HEADER_SYMBOLS: u32 = 8;
/// Length of a whole echo in symbols.
pub const ECHO_SYMBOLS: u32 = 4;
/// Length in bytes of the data of a lock, in each direction.
pub const LOCK_BYTES: u32 = 16;
/// Length in bytes of the data of each full packet of a longer message or access of a rank.
pub(crate) const FULL_PACKET_BYTES: u32 = 64;
/// Lengths in bytes that the data of a packet may have.
const DATA_BYTES: [u32; 3] = [16, 64, 256];

/// The lengths of all packets in symbols: of an echo, and of a header with data or without.
pub(super) const PACKET_SYMBOLS: [u32; 5] = [
    ECHO_SYMBOLS,
    HEADER_SYMBOLS,
    HEADER_SYMBOLS + DATA_BYTES[0] / SYMBOL_BYTES,
    HEADER_SYMBOLS + DATA_BYTES[1] / SYMBOL_BYTES,
    SYMBOLS_MAX,
];
/// The length of the longest packet in symbols.
pub(super) const SYMBOLS_MAX: u32 = HEADER_SYMBOLS + DATA_BYTES[2] / SYMBOL_BYTES;

/// The operation of a transaction. Numbers are the bytes of its data, or rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionKind {
    /// The response brings the data.
    Read(u32),
    /// The request brings the data, and a response confirms them.
    Write(u32),
    /// The request brings the data. There is no response.
    Move(u32),
    /// As a move, without an echo: the sender keeps nothing, and the packet is lost if its target has no place.
    Event(u32),
    /// The request brings 16 bytes, which the responder combines with its memory. The response brings the former
    /// contents.
    Lock,
    /// Requests the controller of a multi-service switch to join two outer rings into one.
    Join(u8, u8),
    /// Requests it to separate them.
    Separate(u8, u8),
}

impl TransactionKind {
    /// Returns whether its data have a size that a packet can have.
    pub fn has_packets(self) -> bool {
        match self {
            TransactionKind::Read(bytes)
            | TransactionKind::Write(bytes)
            | TransactionKind::Move(bytes)
            | TransactionKind::Event(bytes) => DATA_BYTES.contains(&bytes),
            TransactionKind::Lock | TransactionKind::Join(..) | TransactionKind::Separate(..) => {
                true
            }
        }
    }

    /// Returns the length of the data that it moves, in bytes.
    pub fn data_bytes(self) -> u32 {
        match self {
            TransactionKind::Read(bytes)
            | TransactionKind::Write(bytes)
            | TransactionKind::Move(bytes)
            | TransactionKind::Event(bytes) => bytes,
            TransactionKind::Lock => LOCK_BYTES,
            TransactionKind::Join(..) | TransactionKind::Separate(..) => 0,
        }
    }

    /// Returns the length of its request in symbols.
    pub fn request_symbols(self) -> u32 {
        match self {
            TransactionKind::Read(_) => HEADER_SYMBOLS,
            _ => HEADER_SYMBOLS + self.data_bytes() / SYMBOL_BYTES,
        }
    }

    /// Returns the length of its response in symbols, if it has one.
    pub fn response_symbols(self) -> Option<u32> {
        match self {
            TransactionKind::Read(_) | TransactionKind::Lock => {
                Some(HEADER_SYMBOLS + self.data_bytes() / SYMBOL_BYTES)
            }
            TransactionKind::Write(_)
            | TransactionKind::Join(..)
            | TransactionKind::Separate(..) => Some(HEADER_SYMBOLS),
            TransactionKind::Move(_) | TransactionKind::Event(_) => None,
        }
    }

    /// Returns whether its packets are answered by echoes, and kept until then.
    pub fn has_echoes(self) -> bool {
        !matches!(self, TransactionKind::Event(_))
    }
}

/// A transaction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub(super) operation: TransactionKind,
    pub(super) requester: u32,
    pub(super) responder: u32,
    pub(super) priority: u8,
    pub(super) requested_at: Time,
    pub(super) tag: u64,
}

/// The queues that a packet uses. Responses have queues of their own, so that requests cannot block them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Request = 0,
    Response = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Send(Class),
    /// A request that no echo answers.
    Event,
    /// The answer to the packet `of`, with true if it was taken in.
    Echo {
        of: u32,
        taken: bool,
    },
    /// There is room now for the packet `of` ([`Retry::Directed`](super::Retry::Directed)).
    Resume {
        of: u32,
    },
    /// The engine of the train ([`Access::Train`](super::Access::Train)).
    Train,
}

/// The turn of a target's queue to which a packet belongs ([`Retry::Aged`](super::Retry::Aged)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    A = 0,
    B = 1,
}

impl Phase {
    pub(super) fn other(self) -> Phase {
        match self {
            Phase::A => Phase::B,
            Phase::B => Phase::A,
        }
    }
}

/// A packet in a ring, or in the output queue of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) kind: Kind,
    /// Its transaction, if it is a request or a response.
    pub(super) transaction: u32,
    /// Its final destination.
    pub(super) to: u32,
    /// The node that sent it into this ring.
    pub(super) from: u32,
    pub(super) symbols: u32,
    /// The priority: 0 after it was refused, because its repetition must not prevent the sending of the packets that
    /// its target waits for.
    pub(super) priority: u8,
    /// Time at which it arrived at the node in whose queue it waits.
    pub(super) entered: Time,
    /// The node whose input queue keeps a place for it.
    pub(super) reserved_at: Option<u32>,
    /// The node that refused it, and the turn that it has there.
    pub(super) phase: Option<(u32, Phase)>,
}

/// Values by number. Numbers are reused.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    things: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Slab { things: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn add(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = thing;
            return number;
        }
        self.things.push(thing);
        self.things.len() as u32 - 1
    }

    pub(crate) fn remove(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.things.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.things[number as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.things[number as usize]
    }
}
