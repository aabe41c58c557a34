//! The receiver's end of a ring.

use contract::Untrusted;

use super::byte_ring::{ByteRing, ReceiverLines, SenderLines};
use super::lines::{TAKEN_BYTES, prefetch, take_lines};
use super::{Body, Credits, INLINE_BYTES, LINE_BYTES, LINE_WORD, Place, lines_for};
use crate::primitive::{Ordering, note_read, spin_loop};

/// Number of cells by which the receiver prefetches ahead the line that it will read, once it has found two messages in
/// a row. Without prefetching it waits for each line in turn on machines with slow lines. See
/// docs/measurements.md#short-messages.
const PREFETCH_CELLS: u32 = 4;

/// The receiver's end.
pub(crate) struct Consumer {
    place: Place,
    /// The byte ring of the other direction, whose lines hold the reverse-path payloads that arrive through this ring.
    reverse_path: ByteRing,
    next_cell: u32,
    /// Position up to which cells were returned.
    returned_cells: u32,
    /// Account of the lines of the byte ring.
    pub(crate) lines: ReceiverLines,
}

impl Consumer {
    /// Creates the receiver's end. `back` is the ring of the other direction.
    ///
    /// # Safety
    /// As for [`Producer::new`](super::Producer::new) with both places, and there is no other consumer.
    pub(crate) unsafe fn new(place: Place, back: Place) -> Self {
        let lines = ReceiverLines::new(place.lines);
        Consumer { place, reverse_path: back.lines, next_cell: 0, returned_cells: 0, lines }
    }

    /// Returns the number of cells taken, which wraps at 2^32.
    pub(crate) fn position(&self) -> u32 {
        self.next_cell
    }

    /// Returns the oldest message, if there is one.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Body> {
        let cell = self.place.cell(self.next_cell);
        // Acquire, partner of the release in `Producer::publish`.
        if cell.sequence.load(Ordering::Acquire) != self.next_cell.wrapping_add(1) {
            return None;
        }
        // SAFETY: the sequence number says that the sender has published this cell; it writes it again only after our
        // credit.
        Some(cell.body.with(|body| unsafe { &*body }))
    }

    /// Returns the oldest message, polling for it up to `polls` times.
    ///
    /// The pause between two polls matters. Without it the processor has a dozen loads of the line in flight when the
    /// sender takes the line, and must discard them all. See docs/measurements.md#short-messages.
    #[inline]
    pub(crate) fn await_message(&self, polls: u32) -> Option<&Body> {
        for _ in 1..polls {
            if let Some(body) = self.peek() {
                return Some(body);
            }
            spin_loop();
        }
        self.peek()
    }

    /// Prefetches the line of a cell that will be read soon. Only useful while messages lie there one after the other:
    /// otherwise the line is taken from the sender before it has written it.
    #[inline(always)]
    pub(crate) fn prefetch_ahead(&self) {
        prefetch(self.place.cell(self.next_cell.wrapping_add(PREFETCH_CELLS)));
    }

    /// Returns the bytes of the oldest message, which is short, after its first [`INLINE_BYTES`].
    #[inline]
    pub(crate) fn rest(&self, body: &Body) -> &[u8] {
        let bytes = usize::from(body.inline_bytes).saturating_sub(INLINE_BYTES);
        if bytes == 0 {
            return &[];
        }
        let cell = self.place.cell(self.next_cell.wrapping_add(1));
        let bytes = bytes.min(size_of::<Body>());
        // SAFETY: the sender wrote these bytes before it published the cell that `peek` returned, and does not touch
        // them until our credit for both; they lie within the body.
        cell.body.with(|place| unsafe { std::slice::from_raw_parts(place.cast(), bytes) })
    }

    /// Returns the length of a payload of `bytes` bytes, or `None` if the cell's lines do not hold exactly so many.
    #[inline]
    pub(crate) fn payload_bytes(&self, body: &Body, bytes: Untrusted<u32>) -> Option<usize> {
        let lines = Untrusted::new(u32::from(body.lines)).at_most(self.lines.ring.line_count)?;
        let bytes = bytes.at_most(lines * LINE_BYTES as u32)? as usize;
        (lines_for(bytes) == lines).then_some(bytes)
    }

    /// Passes the first `bytes` bytes of the oldest message's payload to `copy`, in parts.
    #[inline]
    pub(crate) fn read(&self, body: &Body, bytes: usize, mut copy: impl FnMut(&[u8])) {
        // Our own lines, which we write next, need not be taken: our store fetches them anyway.
        let is_own = body.is_on_reverse_path();
        let ring = if is_own { &self.reverse_path } else { &self.lines.ring };
        let bytes = bytes.min(usize::from(body.lines) * LINE_BYTES);
        let (from, first, rest) = ring.parts(body.payload[LINE_WORD], bytes);
        for (from, bytes) in [(from, first), (ring.start, rest)] {
            note_read(from, bytes);
            let part_bytes = if is_own { bytes.max(1) } else { TAKEN_BYTES };
            for start in (0..bytes).step_by(part_bytes) {
                let here = part_bytes.min(bytes - start);
                // SAFETY: the part lies inside the byte ring. The sender wrote it before it published the cell that
                // `peek` returned, and does not touch it until our credit, or, if it is our own, until we use it.
                unsafe {
                    if !is_own {
                        take_lines(from.add(start), here);
                    }
                    copy(std::slice::from_raw_parts(from.add(start), here));
                }
            }
        }
    }

    /// Removes the oldest message, which has `cells` cells and no lines. Returns whether credits were returned, for
    /// which a sender may be waiting.
    #[inline]
    pub(crate) fn pop_short(&mut self, cells: u32) -> bool {
        self.next_cell = self.next_cell.wrapping_add(cells);
        let due = self.owes_many_cells();
        if due {
            self.return_credit();
        }
        due
    }

    /// As `pop_short`, for any message, of which `left_bytes` bytes are still to come. `back` is the account of the
    /// ring to its sender.
    #[inline]
    pub(crate) fn pop(&mut self, body: &Body, left_bytes: usize, back: &mut SenderLines) -> bool {
        if body.lines == 0 {
            return self.pop_short(body.cells());
        }
        self.next_cell = self.next_cell.wrapping_add(1);
        let (line, lines) = (body.payload[LINE_WORD], u32::from(body.lines));
        if body.is_on_reverse_path() {
            back.take_back(line.wrapping_add(lines));
        } else {
            self.lines.read(line, lines);
        }
        let due_lines = self.lines.due(left_bytes);
        if due_lines == 0 && !self.owes_many_cells() {
            return false;
        }
        self.lines.returned = self.lines.returned.wrapping_add(due_lines);
        self.return_credit();
        true
    }

    #[inline]
    fn owes_many_cells(&self) -> bool {
        self.next_cell.wrapping_sub(self.returned_cells) >= self.place.cell_count / 4
    }

    fn return_credit(&mut self) {
        self.returned_cells = self.next_cell;
        let ReceiverLines { returned: lines, reverse_payloads, .. } = self.lines;
        let word = Credits { cells: self.next_cell as u16, reverse_payloads, lines }.to_word();
        // SAFETY: `new` was promised a mapped ring.
        let credit = unsafe { &*self.place.credit };
        // Release, partner of the acquire in `Producer::read_credit`.
        credit.0.store(word, Ordering::Release);
    }
}
