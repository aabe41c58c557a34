//! The channel from one sender to one receiver: a ring of cache-line cells, and a ring of bytes for payloads that do
//! not fit a cell.
//!
//! A cell holds its sequence number, an envelope and up to [`INLINE_BYTES`] of payload in one cache line, so a short
//! message moves one line. The cell at position p (counted from zero, never wrapped) is ready when its sequence number
//! is p + 1. The ring starts as zeros, which is the sequence number of no position in the first lap. Longer payloads
//! lie in the byte ring, whose lines are used and freed in the order of the cells.
//!
//! A message that is slightly longer continues in the next cell, whose body then holds only bytes. That takes as many
//! lines as the byte ring would, and needs no accounting there. See docs/measurements.md#short-messages.
//!
//! The receiver returns credits for both rings in one word of another line, and only once a quarter of a ring is owing.
//! So that line moves once in many messages, not once in each.
//!
//! Lines of the byte ring that the receiver has read and still owes may carry its own payloads back: *reverse-path
//! payloads*. Their cells lie in the ring of the other direction as usual, and say which lines of this ring they use.
//! The receiver already has lines that it has just read in its cache, and needs no credit for them. The sender owns
//! them again once it has read the payload. In a ping-pong both directions then use the same lines, and no credits are
//! written (decision 0027).

mod byte_ring;
mod consumer;
mod lines;
mod producer;

pub(crate) use byte_ring::ByteRing;
pub(crate) use consumer::Consumer;
pub(crate) use lines::{TAKEN_BYTES, copy_short, take_lines};
pub(crate) use producer::Producer;

use contract::Untrusted;

use crate::primitive::{AtomicU32, AtomicU64, UnsafeCell};

/// Length of a cache line, of a cell and of a unit of the byte ring.
pub(crate) const LINE_BYTES: usize = 64;
/// Length of the payload that fits the cell itself.
pub(crate) const INLINE_BYTES: usize = 48;

/// Length of the longest payload of a message in two cells.
pub(crate) const SHORT_BYTES: usize = INLINE_BYTES + size_of::<Body>();

/// One cell, which is one cache line.
#[repr(C, align(64))]
pub(crate) struct Cell {
    /// Position of the message, plus 1. The sender's release here is the partner of the receiver's acquire; without it
    /// the receiver could read an envelope of the lap before.
    sequence: AtomicU32,
    body: UnsafeCell<Body>,
}

/// The content of a cell.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Body {
    /// The kind of the message, which the engine chooses.
    pub(crate) kind: u8,
    /// Length of a short message, whose bytes lie in `payload` and from [`INLINE_BYTES`] on in the next cell; zero for
    /// all others.
    inline_bytes: u8,
    /// Number of lines of a byte ring that belong to this cell. If there are any, the last two words of `payload`
    /// belong to the ring.
    lines: u16,
    pub(crate) tag: u32,
    pub(crate) context: u32,
    payload: Payload,
}

/// The payload of a cell: the user's bytes, or numbers of the protocol.
type Payload = [u32; INLINE_BYTES / 4];

/// The word of the payload that says whose byte ring holds the cell's lines: zero for the sender's own,
/// [`REVERSE_PATH`] for the receiver's.
const RING_WORD: usize = INLINE_BYTES / 4 - 2;
const REVERSE_PATH: u32 = 1;
/// The word with the beginning of the lines, as a position that never wraps.
const LINE_WORD: usize = INLINE_BYTES / 4 - 1;

/// The line in which the receiver returns credits ([`Credits`]).
#[repr(C, align(64))]
pub(crate) struct Credit(AtomicU64);

/// The content of a credit word. It is a single word, so that a reader always sees consistent values.
struct Credits {
    /// Position up to which the receiver has returned cells. The low half suffices, because fewer cells than that are
    /// ever in flight.
    cells: u16,
    /// Number of reverse-path payloads that the receiver had put into this ring's lines before. `lines` is valid only
    /// for a sender that has read as many: otherwise lines of an unread payload would seem free.
    reverse_payloads: u16,
    /// Position up to which the receiver has returned lines of the byte ring.
    lines: u32,
}

impl Credits {
    fn to_word(&self) -> u64 {
        u64::from(self.cells) | u64::from(self.reverse_payloads) << 16 | u64::from(self.lines) << 32
    }

    fn from_word(word: u64) -> Self {
        Credits {
            cells: word as u16,
            reverse_payloads: (word >> 16) as u16,
            lines: (word >> 32) as u32,
        }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == LINE_BYTES && size_of::<Credit>() == LINE_BYTES);

/// Location of a ring. The number of cells is a power of two.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) credit: *const Credit,
    pub(crate) cells: *const Cell,
    pub(crate) cell_count: u32,
    pub(crate) lines: byte_ring::ByteRing,
}

/// Returns the number of lines of the byte ring that `bytes` bytes occupy.
pub(crate) fn lines_for(bytes: usize) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}

impl Body {
    /// Creates a body with numbers as its payload.
    pub(crate) fn with_numbers<const N: usize>(kind: u8, numbers: [u32; N]) -> Self {
        let mut payload: Payload = [0; INLINE_BYTES / 4];
        payload[..N].copy_from_slice(&numbers);
        Body { kind, inline_bytes: 0, lines: 0, tag: 0, context: 0, payload }
    }

    /// Returns it with a tag and a context.
    pub(crate) fn with_envelope(self, tag: u32, context: u32) -> Self {
        Body { tag, context, ..self }
    }

    /// Returns a number of the payload.
    #[inline(always)]
    pub(crate) fn number(&self, index: usize) -> Untrusted<u32> {
        Untrusted::new(self.payload[index])
    }

    /// Returns a length or a place of the payload, which takes two words.
    #[inline(always)]
    pub(crate) fn long_number(&self, index: usize) -> Untrusted<usize> {
        Untrusted::joined(self.number(index), self.number(index + 1))
    }

    /// Returns the length of a short message, or `None` if no message in two cells is so long.
    #[inline(always)]
    pub(crate) fn short_bytes(&self) -> Option<usize> {
        Untrusted::new(usize::from(self.inline_bytes)).at_most(SHORT_BYTES)
    }

    /// Returns whether its payload lies in lines of a byte ring.
    #[inline(always)]
    pub(crate) fn has_lines(&self) -> bool {
        self.lines > 0
    }

    /// Returns the first [`INLINE_BYTES`] of a short message.
    #[inline(always)]
    pub(crate) fn inline(&self) -> *const u8 {
        self.payload.as_ptr().cast()
    }

    /// Returns the number of cells of the message.
    #[inline]
    pub(crate) fn cells(&self) -> u32 {
        1 + u32::from(usize::from(self.inline_bytes) > INLINE_BYTES)
    }

    /// Returns whether the payload lies in lines that the receiver of this message had sent before.
    #[inline]
    fn is_on_reverse_path(&self) -> bool {
        self.payload[RING_WORD] == REVERSE_PATH
    }
}

impl Place {
    /// Returns the cell at a position.
    #[inline]
    fn cell<'a>(&self, position: u32) -> &'a Cell {
        let index = (position & (self.cell_count - 1)) as usize;
        // SAFETY: the index is masked into the ring, which the creator of the ends has promised is mapped.
        unsafe { &*self.cells.add(index) }
    }
}

#[cfg(loom)]
crate::primitive::fresh! {
    Cell { sequence, body }
    Body { kind, inline_bytes, lines, tag, context, payload }
    Credit { 0 }
}

#[cfg(test)]
mod tests;
