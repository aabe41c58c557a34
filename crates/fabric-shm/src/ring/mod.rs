//! One sender's way to one receiver: a ring of cache-line cells, and a ring of bytes for what does not fit a cell.
//!
//! A cell holds its sequence number, an envelope and up to [`INLINE_BYTES`] of payload in one cache line, so that a
//! short message moves one line. The cell at position p (counted from zero, never wrapped) is ready when its sequence
//! number is p + 1; the ring starts as zeros, which is no position's number in its first lap. Longer payloads lie in the
//! byte ring, whose space is used and freed in the order of the cells.
//!
//! A message that is a little longer goes on in the next cell, whose body is then nothing but bytes: with that it takes as many
//! lines as through the byte ring, and is not begun, continued and ended (64 bytes: 1.3 times as many messages a second).
//!
//! The receiver returns credits for both in one word of another line, and only once a quarter of the ring is owing:
//! the line then moves once in many messages, not once in each.
//!
//! Lines of the byte ring that the receiver has read and still owes may carry its own messages back: an *answer*. Its cell lies in the
//! other ring, as ever, and says which lines of this one it has. Whoever answers in the memory that it has just read has its lines in
//! its cache already, and the sender needs no credits for them: they are its own again once it has read the answer. In a ping-pong both
//! directions then use the same lines, and no credits are written (decision 0027).

mod consumer;
mod copy;
mod producer;

pub(crate) use consumer::Consumer;
#[cfg(not(loom))]
pub(crate) use copy::copy_short;
pub(crate) use producer::Producer;

use crate::primitive::{AtomicU32, AtomicU64, UnsafeCell};

/// The size of a cache line, of a cell and of a unit of the byte ring.
pub(crate) const LINE_BYTES: usize = 64;
/// The payload that fits the cell itself.
pub(crate) const INLINE_BYTES: usize = 48;

/// The payload of a message in two cells.
pub(crate) const SHORT_BYTES: usize = INLINE_BYTES + size_of::<Body>();

/// One cell, one cache line.
#[repr(C, align(64))]
pub(crate) struct Cell {
    /// Position + 1 of the message it holds. The sender's release here is the partner of the receiver's acquire; without
    /// it the receiver could read an envelope of the lap before.
    sequence: AtomicU32,
    body: UnsafeCell<Body>,
}

/// What a cell carries.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Body {
    /// What kind of message it is; the engine's business.
    pub(crate) kind: u8,
    /// How long a short message is, in `payload` and from [`INLINE_BYTES`] on in the next cell; zero for all others.
    pub(crate) inline_bytes: u8,
    /// How many lines of a byte ring belong to this cell. If there are any, the last two words of `payload` are the ring's.
    pub(crate) lines: u16,
    pub(crate) tag: u32,
    pub(crate) context: u32,
    pub(crate) payload: Payload,
}

/// The payload of a cell: user's bytes, or numbers of the protocol.
pub(crate) type Payload = [u32; INLINE_BYTES / 4];

/// Which word of the payload says whose byte ring holds the cell's lines: zero if it is the sender's own, [`ANSWER`] if the
/// receiver's.
const RING_WORD: usize = INLINE_BYTES / 4 - 2;
const ANSWER: u32 = 1;
/// Which word says where in it they begin, as a position that never wraps.
const LINE_WORD: usize = INLINE_BYTES / 4 - 1;

/// The line on which the receiver returns credits ([`Returned`]).
#[repr(C, align(64))]
pub(crate) struct Credit(AtomicU64);

/// What a credit word says: the positions up to which the receiver has given back cells and lines of the byte ring, and how many
/// answers it had put into such lines before. The lines count only for a sender that has read as many: else lines of an answer
/// that it has not read would pass for free. All in one word, so that they belong together whenever it is read.
struct Returned {
    /// The low half of a position: fewer than that are ever under way.
    cells: u16,
    answers: u16,
    lines: u32,
}

impl Returned {
    fn to_word(&self) -> u64 {
        u64::from(self.cells) | u64::from(self.answers) << 16 | u64::from(self.lines) << 32
    }

    fn from_word(word: u64) -> Self {
        Returned { cells: word as u16, answers: (word >> 16) as u16, lines: (word >> 32) as u32 }
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Cell>() == LINE_BYTES && size_of::<Credit>() == LINE_BYTES);

/// Where a ring lies. Counts are powers of two.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) credit: *const Credit,
    pub(crate) cells: *const Cell,
    pub(crate) cell_count: u32,
    pub(crate) bytes: *mut u8,
    pub(crate) line_count: u32,
}

/// How many lines of the byte ring `bytes` take.
pub(crate) fn lines_for(bytes: usize) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}

impl Body {
    /// How many cells the message has.
    #[inline]
    pub(crate) fn cells(&self) -> u32 {
        1 + u32::from(usize::from(self.inline_bytes) > INLINE_BYTES)
    }

    /// Whether its bytes lie in lines that the receiver of this message had sent before.
    #[inline]
    fn is_answer(&self) -> bool {
        self.payload[RING_WORD] == ANSWER
    }
}

impl Place {
    /// The cell at a position.
    #[inline]
    fn cell<'a>(&self, position: u32) -> &'a Cell {
        let index = (position & (self.cell_count - 1)) as usize;
        // SAFETY: the index is masked into the ring, which whoever made the ends has promised is mapped.
        unsafe { &*self.cells.add(index) }
    }

    /// Where the byte ring has the `bytes` bytes that begin at a line's position: the first part's place and length, and the length of
    /// the rest, which begins where the ring does.
    #[inline]
    fn parts(&self, line: u32, bytes: usize) -> (*mut u8, usize, usize) {
        let start = (line & (self.line_count - 1)) as usize * LINE_BYTES;
        let bytes = bytes.min(self.line_count as usize * LINE_BYTES);
        let first = bytes.min(self.line_count as usize * LINE_BYTES - start);
        // SAFETY: the start is masked into the byte ring.
        (unsafe { self.bytes.add(start) }, first, bytes - first)
    }

    /// The first position from this one on that is the start of the byte ring.
    #[inline]
    fn next_start(&self, line: u32) -> u32 {
        line.wrapping_add(self.line_count - 1) & !(self.line_count - 1)
    }

    /// Copies `data` into the byte ring, from a line's position on.
    ///
    /// # Safety
    /// The lines are this rank's to write.
    #[inline]
    unsafe fn copy_in(&self, line: u32, data: &[u8]) {
        let (to, first, rest) = self.parts(line, data.len());
        // SAFETY: both parts lie inside the byte ring; our caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, first);
            std::ptr::copy_nonoverlapping(data[first..].as_ptr(), self.bytes, rest);
        }
    }
}

#[cfg(test)]
mod tests;
