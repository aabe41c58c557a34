//! The byte ring, and the account that each end keeps of its lines.
//!
//! The accounts are separate from the ends because each end also uses the account of the other direction: a
//! reverse-path payload of one ring lies in lines of the other.

use contract::Untrusted;

use super::{LINE_BYTES, lines_for};
use crate::primitive::note_write;

/// The memory of a byte ring. The number of lines is a power of two.
#[derive(Clone, Copy)]
pub(crate) struct ByteRing {
    pub(crate) start: *mut u8,
    pub(crate) line_count: u32,
}

impl ByteRing {
    pub(crate) fn bytes(&self) -> usize {
        self.line_count as usize * LINE_BYTES
    }

    /// Returns the location of the `bytes` bytes that begin at a line's position: start and length of the first part,
    /// and the length of the rest, which begins at the start of the ring.
    #[inline]
    pub(super) fn parts(&self, line: u32, bytes: usize) -> (*mut u8, usize, usize) {
        let start = (line & (self.line_count - 1)) as usize * LINE_BYTES;
        let bytes = bytes.min(self.bytes());
        let first = bytes.min(self.bytes() - start);
        // SAFETY: the start is masked into the byte ring.
        (unsafe { self.start.add(start) }, first, bytes - first)
    }

    /// Returns the first position from this one on that is the start of the ring.
    #[inline]
    fn next_start(&self, line: u32) -> u32 {
        line.wrapping_add(self.line_count - 1) & !(self.line_count - 1)
    }

    /// Copies `data` into the ring, from a line's position on.
    ///
    /// # Safety
    /// This rank may write the lines.
    #[inline]
    unsafe fn copy_in(&self, line: u32, data: &[u8]) {
        let (to, first, rest) = self.parts(line, data.len());
        note_write(to, first);
        note_write(self.start, rest);
        // SAFETY: both parts lie inside the byte ring; the caller may write them.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), to, first);
            std::ptr::copy_nonoverlapping(data[first..].as_ptr(), self.start, rest);
        }
    }
}

/// The sender's account of its byte ring: the lines that it may write.
pub(crate) struct SenderLines {
    ring: ByteRing,
    next: u32,
    /// Position up to which lines are known to be free.
    returned: u32,
    /// Number of reverse-path payloads in lines of this ring that have been read.
    reverse_payloads: u16,
    /// True if the receiver has returned lines, or cells of their ring, that it was not sent.
    pub(super) is_wrong: bool,
}

impl SenderLines {
    pub(super) fn new(ring: ByteRing) -> Self {
        SenderLines { ring, next: 0, returned: 0, reverse_payloads: 0, is_wrong: false }
    }

    /// Returns the number of lines in use, as far as is known.
    #[inline(always)]
    fn used(&self) -> u32 {
        self.next.wrapping_sub(self.returned)
    }

    #[inline(always)]
    pub(super) fn fits(&self, lines: u32) -> bool {
        self.used() + lines <= self.ring.line_count
    }

    /// Returns whether a quarter of the ring or more is in use.
    pub(super) fn is_quarter_used(&self) -> bool {
        self.used() >= self.ring.line_count / 4
    }

    /// Processes a credit word: lines are free up to `up_to`, after `reverse_payloads` reverse-path payloads. If one of
    /// these is still unread, the lines may be its own, and the word is ignored. A rank that waits for room takes in
    /// what arrives, and reads the word again.
    #[inline]
    pub(super) fn credit(&mut self, reverse_payloads: u16, up_to: u32) {
        if reverse_payloads == self.reverse_payloads {
            self.free(up_to);
        }
    }

    /// Frees lines up to a position, unless more are known to be free: a credit word may be older than a reverse-path
    /// payload, or than a restart at the beginning.
    #[inline]
    fn free(&mut self, up_to: u32) {
        let more = up_to.wrapping_sub(self.returned);
        if (more as i32) > 0 {
            match Untrusted::new(more).at_most(self.used()) {
                Some(_) => self.returned = up_to,
                None => self.is_wrong = true,
            }
        }
    }

    /// Records that a reverse-path payload in lines up to a position has been read.
    #[inline]
    pub(super) fn take_back(&mut self, up_to: u32) {
        self.reverse_payloads = self.reverse_payloads.wrapping_add(1);
        self.free(up_to);
    }

    /// Copies `data` into the ring, and returns its first line.
    ///
    /// A ring that is known to be empty restarts at its beginning. So a ping-pong stays in the lines of one message,
    /// which a near cache holds. See docs/measurements.md#reverse-path-payloads.
    ///
    /// # Safety
    /// The caller has checked that [`fits`](SenderLines::fits) holds for these lines.
    #[inline]
    pub(super) unsafe fn write(&mut self, data: &[u8]) -> u32 {
        if self.returned == self.next {
            self.next = self.ring.next_start(self.next);
            self.returned = self.next;
        }
        let line = self.next;
        // SAFETY: the caller has checked that these lines are free.
        unsafe { self.ring.copy_in(line, data) };
        self.next = line.wrapping_add(lines_for(data.len()));
        line
    }
}

/// The receiver's account of the same ring: the lines that it has read, and those of them that it has returned.
pub(crate) struct ReceiverLines {
    pub(super) ring: ByteRing,
    next: u32,
    /// Position up to which lines were returned, by credit or with reverse-path payloads.
    pub(super) returned: u32,
    /// Number of reverse-path payloads that were put into lines of this ring.
    pub(super) reverse_payloads: u16,
    /// Number of lines that this rank has sent in the other direction, less those returned by credit since; see
    /// [`due`](ReceiverLines::due).
    sent: u32,
}

impl ReceiverLines {
    pub(super) fn new(ring: ByteRing) -> Self {
        ReceiverLines { ring, next: 0, returned: 0, reverse_payloads: 0, sent: 0 }
    }

    /// Returns the number of lines that have been read and not returned.
    #[inline]
    pub(super) fn owing(&self) -> u32 {
        self.next.wrapping_sub(self.returned)
    }

    /// Records that `lines` lines from `line` on have been read.
    #[inline]
    pub(super) fn read(&mut self, line: u32, lines: u32) {
        if line != self.next {
            // The sender had everything back, and restarted at the beginning.
            self.returned = line;
        }
        self.next = line.wrapping_add(lines);
    }

    /// Returns the number of lines to return now: all of them once they are a quarter of the ring, less what is kept
    /// for the reverse path.
    ///
    /// As many lines are kept as this rank has sent recently, and at most three quarters of the ring, so that the
    /// sender has room for its longest fragment. Of a long message only the end is kept, because its beginning needs
    /// the room.
    #[inline]
    pub(super) fn due(&mut self, left_bytes: usize) -> u32 {
        let quarter = self.ring.line_count / 4;
        let owing = self.owing();
        if owing < quarter {
            return 0;
        }
        let kept = self.sent.min(3 * quarter);
        let left = u32::try_from(left_bytes.div_ceil(LINE_BYTES)).unwrap_or(u32::MAX);
        let due = owing.saturating_add(left).saturating_sub(kept).min(owing);
        if due > 0 {
            self.sent = self.sent.saturating_sub(due.max(quarter));
        }
        due
    }

    /// Records that this rank has sent `lines` lines in the other direction. The number shrinks as credits are
    /// returned, so a stream without replies gets its credits as early as if nothing had been sent.
    #[inline]
    pub(super) fn count_sent(&mut self, lines: u32) {
        self.sent = (self.sent + lines).min(2 * self.ring.line_count);
    }

    /// Puts `data` into the oldest lines that are owing if they suffice, which returns these lines. Returns the first
    /// of them, for the cell that the caller sends.
    #[inline]
    pub(super) fn put_on_reverse_path(&mut self, data: &[u8]) -> Option<u32> {
        let lines = lines_for(data.len());
        if self.owing() < lines {
            return None;
        }
        let line = self.returned;
        // SAFETY: these lines have been read and not returned, so the sender does not touch them until it has read this
        // payload: no credit word of ours names them, and a word that names later lines also counts this payload.
        unsafe { self.ring.copy_in(line, data) };
        self.returned = line.wrapping_add(lines);
        self.reverse_payloads = self.reverse_payloads.wrapping_add(1);
        Some(line)
    }
}
