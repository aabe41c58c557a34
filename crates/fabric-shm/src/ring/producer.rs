//! The sender's end of a ring.

use contract::Untrusted;

use super::byte_ring::{ReceiverLines, SenderLines};
use super::lines::{copy_short, prefetch_for_write};
use super::{
    Body, Cell, Credits, INLINE_BYTES, LINE_BYTES, LINE_WORD, Place, REVERSE_PATH, RING_WORD,
    lines_for,
};
use crate::primitive::Ordering;

/// Number of cells by which the sender prefetches ahead the line that it will write. Without prefetching it waits for
/// each line of a stream in turn, because stores become visible in order. See
/// docs/measurements.md#short-messages.
const PREFETCH_FOR_WRITE_CELLS: u32 = 8;

/// Length of the first and the last fragment of a long message. The two copies of a message overlap except for one
/// fragment, so shorter is better until the cost of each fragment dominates. See
/// docs/measurements.md#fragments-and-rings.
const FRAGMENT_BYTES: usize = 16 << 10;

/// Longer fragments are a multiple of this, a page, so that they begin at page boundaries of the sender's memory.
const FRAGMENT_UNIT_BYTES: usize = 4 << 10;

/// The sender's end.
pub(crate) struct Producer {
    place: Place,
    next_cell: u32,
    /// The last credit read for cells; reading it again moves the receiver's line.
    returned_cells: u32,
    /// Account of the lines of the byte ring.
    pub(crate) lines: SenderLines,
    /// True if nothing has been received from the other rank since the last push.
    in_a_row: bool,
}

impl Producer {
    /// Creates the sender's end.
    ///
    /// # Safety
    /// `place` points to a ring in mapped memory that outlives this, was zero at first, and has no other producer.
    pub(crate) unsafe fn new(place: Place) -> Self {
        let lines = SenderLines::new(place.lines);
        Producer { place, next_cell: 0, returned_cells: 0, lines, in_a_row: false }
    }

    /// Returns the number of cells written, which wraps at 2^32.
    pub(crate) fn position(&self) -> u32 {
        self.next_cell
    }

    /// Returns whether a cell is free.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        self.has(1, 0)
    }

    /// Returns whether a cell is free, and `lines` lines for its payload: on the reverse path, in lines of `back`, the
    /// ring that comes from this one's receiver, or in this ring.
    #[inline]
    pub(crate) fn has_room_for(&mut self, lines: u32, back: Option<&ReceiverLines>) -> bool {
        let reverse_path = back.is_some_and(|back| back.owing() >= lines);
        self.has(1, if reverse_path { 0 } else { lines })
    }

    /// Returns whether this ring has room for all fragments of a message of `bytes` bytes.
    pub(crate) fn has_room_for_fragments(&mut self, bytes: usize) -> bool {
        // Each fragment but the last has whole lines, and is no shorter than the shortest.
        let cells = bytes.div_ceil(self.fragment_bytes()) as u32;
        bytes <= self.byte_count() && self.has(cells, lines_for(bytes))
    }

    #[inline(always)]
    fn has(&mut self, cells: u32, lines: u32) -> bool {
        self.fits(cells, lines) || {
            self.read_credit();
            self.fits(cells, lines)
        }
    }

    /// Returns the length of the longest message that goes in one fragment, and of the shortest of several: at most a
    /// quarter of the byte ring, so that the sender can fill the next while the receiver empties one, and at most
    /// [`FRAGMENT_BYTES`].
    #[inline]
    pub(crate) fn fragment_bytes(&self) -> usize {
        (self.place.lines.line_count as usize / 4 * LINE_BYTES).min(FRAGMENT_BYTES)
    }

    /// Returns the length of the byte ring.
    pub(crate) fn byte_count(&self) -> usize {
        self.place.lines.bytes()
    }

    /// Returns whether the receiver has yet to return a quarter of the byte ring or more.
    pub(crate) fn is_far_ahead(&mut self) -> bool {
        self.lines.is_quarter_used() && {
            self.read_credit();
            self.lines.is_quarter_used()
        }
    }

    /// Returns the length of a message's next fragment, if `moved` bytes were sent and `left` bytes were not.
    ///
    /// The first and the last fragment are short, so that the receiver begins early and ends soon after the sender.
    /// Between them each may be as long as all before it, because every fragment costs a cell. A sender that is far
    /// ahead is not read soon, so its fragments may be as long as the ring allows. See
    /// docs/measurements.md#fragments-and-rings.
    pub(crate) fn next_fragment_bytes(&self, far_ahead: bool, moved: usize, left: usize) -> usize {
        let whole_pages = moved.min(left / 2) / FRAGMENT_UNIT_BYTES * FRAGMENT_UNIT_BYTES;
        let wanted = if far_ahead { left } else { whole_pages };
        wanted.clamp(self.fragment_bytes(), self.byte_count() / 4).min(left)
    }

    #[inline(always)]
    fn fits(&self, cells: u32, lines: u32) -> bool {
        self.next_cell.wrapping_sub(self.returned_cells) + cells <= self.place.cell_count
            && self.lines.fits(lines)
    }

    fn read_credit(&mut self) {
        // SAFETY: `new` was promised a mapped ring.
        let line = unsafe { &*self.place.credit };
        // Acquire, partner of the release in `Consumer::return_credit`: the receiver's reads of the cells that it
        // returns come before our writes over them.
        let credits = Credits::from_word(line.0.load(Ordering::Acquire));
        let owing = Untrusted::new(u32::from((self.next_cell as u16).wrapping_sub(credits.cells)));
        match owing.at_most(self.next_cell.wrapping_sub(self.returned_cells)) {
            Some(owing) => self.returned_cells = self.next_cell.wrapping_sub(owing),
            None => self.lines.is_wrong = true,
        }
        self.lines.credit(credits.reverse_payloads, credits.lines);
    }

    /// Returns whether the receiver has returned credits that no receiver returns. Then there may never be room again.
    pub(crate) fn has_wrong_credits(&self) -> bool {
        self.lines.is_wrong
    }

    /// Records that a message has come from the other rank, so the next push begins a new row. A short message in a new
    /// row is pushed without a prefetch, which would only delay it. See
    /// docs/measurements.md#short-messages.
    #[inline(always)]
    pub(crate) fn end_row(&mut self) {
        self.in_a_row = false;
    }

    /// Prefetches cells that will be written some messages later, if they are known to be free.
    #[inline(always)]
    fn prefetch_ahead(&self, cells: u32) {
        if self.fits(PREFETCH_FOR_WRITE_CELLS + cells, 0) {
            for cell in 0..cells {
                let position = self.next_cell.wrapping_add(PREFETCH_FOR_WRITE_CELLS + cell);
                prefetch_for_write(self.place.cell(position));
            }
        }
    }

    /// Puts a message of at most [`SHORT_BYTES`](super::SHORT_BYTES) into the ring, with its kind, tag and context.
    /// Returns false if the ring is full.
    #[inline(always)]
    pub(crate) fn push_short(&mut self, (kind, tag, context): (u8, u32, u32), data: &[u8]) -> bool {
        let bytes = data.len();
        let cells = 1 + u32::from(bytes > INLINE_BYTES);
        if !self.has(cells, 0) {
            return false;
        }
        if std::mem::replace(&mut self.in_a_row, true) {
            self.prefetch_ahead(cells);
        }
        if bytes > INLINE_BYTES {
            self.write_rest(&data[INLINE_BYTES..]);
        }
        let cell = self.place.cell(self.next_cell);
        // SAFETY: `has` saw this cell's credit, so the receiver no longer uses it, and reads it only after it is
        // published; the payload has room for INLINE_BYTES, and no more are copied.
        cell.body.with_mut(|room| unsafe {
            let room = &mut *room;
            (room.kind, room.inline_bytes, room.lines) = (kind, bytes as u8, 0);
            (room.tag, room.context) = (tag, context);
            copy_short(data.as_ptr(), room.payload.as_mut_ptr().cast(), bytes.min(INLINE_BYTES));
        });
        self.publish(cell, cells);
        true
    }

    /// Writes the end of a short message into the second cell. The caller has checked that both have room.
    fn write_rest(&self, rest: &[u8]) {
        assert!(rest.len() <= size_of::<Body>());
        let next = self.next_cell.wrapping_add(1);
        let cell = self.place.cell(next);
        // This must not be the sequence number of this position, whatever the cell held before: the receiver must find
        // no message here, neither now nor a lap later.
        cell.sequence.store(next, Ordering::Relaxed);
        // SAFETY: the caller saw this cell's credit, the receiver reads it only after the store in `publish`,
        // and the bytes fit a body.
        cell.body.with_mut(|to| unsafe { copy_short(rest.as_ptr(), to.cast(), rest.len()) });
    }

    /// Puts a message into the ring. `data` goes on the reverse path, into lines of `back` that this rank owes, if they
    /// suffice, and otherwise into the byte ring.
    ///
    /// The caller has checked [`Producer::has_room_for`].
    #[inline]
    pub(crate) fn push(&mut self, body: Body, data: &[u8], back: Option<&mut ReceiverLines>) {
        let lines = lines_for(data.len());
        let (ring, line) = if lines == 0 { (0, 0) } else { self.place_data(data, back) };
        self.prefetch_ahead(1);
        debug_assert!(self.fits(1, 0), "the caller checks for room first");
        let cell = self.place.cell(self.next_cell);
        // SAFETY: the caller saw this cell's credit, so the receiver no longer uses it, and reads it only after it is
        // published.
        cell.body.with_mut(|room| unsafe {
            let room = &mut *room;
            *room = body;
            if lines > 0 {
                // Written in the cell and not in `body` before: reading a value as a whole is slow just after it was
                // written in parts.
                room.lines = lines as u16;
                (room.payload[RING_WORD], room.payload[LINE_WORD]) = (ring, line);
            }
        });
        self.publish(cell, 1);
    }

    /// Copies `data` to the place where the receiver reads it. Returns whose ring that is and the first line.
    #[inline]
    fn place_data(&mut self, data: &[u8], back: Option<&mut ReceiverLines>) -> (u32, u32) {
        if let Some(back) = back {
            back.count_sent(lines_for(data.len()));
            if let Some(line) = back.put_on_reverse_path(data) {
                return (REVERSE_PATH, line);
            }
        }
        // SAFETY: the caller of `push` has checked that these lines are free.
        (0, unsafe { self.lines.write(data) })
    }

    /// Publishes the next cell, and with it the rest of the message's `cells` cells. There is no other producer.
    #[inline(always)]
    fn publish(&mut self, cell: &Cell, cells: u32) {
        // Release, partner of the acquire in `Consumer::peek`.
        cell.sequence.store(self.next_cell.wrapping_add(1), Ordering::Release);
        self.next_cell = self.next_cell.wrapping_add(cells);
    }
}
