//! The sender's end of a ring.

use super::copy::{copy_short, will_write};
use super::{
    ANSWER, Body, Cell, Consumer, INLINE_BYTES, LINE_BYTES, LINE_WORD, Place, RING_WORD, Returned,
    lines_for,
};
use crate::primitive::Ordering;

/// How many cells ahead the sender asks for the line that it will write. Else it waits for each line of a stream in turn, as
/// stores go out in order.
const AHEAD_CELLS: u32 = 8;

/// The least that one cell of a long message brings through the byte ring. Its two copies overlap but for one fragment's, so
/// shorter is better until what each costs shows (two cores of a Zen 5, 256 KiB through a ring of 256 KiB: 38, 57, 58, 52 GB/s
/// with 4, 8, 16 and 32 KiB).
const FRAGMENT_BYTES: usize = 16 << 10;

/// Longer fragments are a multiple of this, a page, so that they begin where the sender's pages do.
const WHOLE_BYTES: usize = 4 << 10;

/// The sender's end.
pub(crate) struct Producer {
    place: Place,
    next_cell: u32,
    next_line: u32,
    /// The credits last read; reading them again moves the receiver's line.
    returned_cells: u32,
    returned_lines: u32,
    /// How many answers in lines of this ring have been read.
    answers: u16,
    /// Whether nothing has been received from the other rank since the last push.
    in_a_row: bool,
}

impl Producer {
    /// # Safety
    /// `place` points to a ring in mapped memory that outlives this, was zero at first, and has no other producer.
    pub(crate) unsafe fn new(place: Place) -> Self {
        Producer {
            place,
            next_cell: 0,
            next_line: 0,
            returned_cells: 0,
            returned_lines: 0,
            answers: 0,
            in_a_row: false,
        }
    }

    /// Whether a cell is free now.
    #[inline]
    pub(crate) fn has_room(&mut self) -> bool {
        self.has(1, 0)
    }

    /// Whether a cell is free now, and `lines` lines: to answer in `back`, the ring that comes from this one's receiver, or here.
    #[inline]
    pub(crate) fn has_room_for(&mut self, lines: u32, back: Option<&Consumer>) -> bool {
        let answers = back.is_some_and(|back| back.owing_lines() >= lines);
        self.has(1, if answers { 0 } else { lines })
    }

    /// Whether this ring has room now for all fragments of a message of so many bytes.
    pub(crate) fn has_room_for_fragments(&mut self, bytes: usize) -> bool {
        // Each but the last has whole lines, and is no shorter than the shortest.
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

    /// The longest message that goes in one fragment, and the shortest of several: at most a quarter of the byte ring, so that the
    /// next can be filled while the receiver empties one, and no more than [`FRAGMENT_BYTES`].
    #[inline]
    pub(crate) fn fragment_bytes(&self) -> usize {
        (self.place.line_count as usize / 4 * LINE_BYTES).min(FRAGMENT_BYTES)
    }

    /// The room of the byte ring.
    pub(crate) fn byte_count(&self) -> usize {
        self.place.line_count as usize * LINE_BYTES
    }

    /// Whether the receiver has yet to return a quarter of the byte ring or more.
    pub(crate) fn is_far_ahead(&mut self) -> bool {
        let far = |ring: &Self| {
            ring.next_line.wrapping_sub(ring.returned_lines) >= ring.place.line_count / 4
        };
        far(self) && {
            self.read_credit();
            far(self)
        }
    }

    /// How long the next fragment of a message is, `moved` bytes of which have gone and `left` have not. The receiver begins to read
    /// early and ends soon after the sender if the first and the last are short; between them each may be as long as all before, for
    /// every one costs the way of a line. With so much before it that it is not read soon, it may be as long as the ring allows (a loop
    /// of two processes on two cores of a Zen 5 while a line takes 280 ns: 24, 28 and 30 GB/s with 16, 32 and 64 KiB; while it takes
    /// 60 ns, 56 with each).
    pub(crate) fn next_fragment_bytes(&self, far_ahead: bool, moved: usize, left: usize) -> usize {
        let whole_pages = moved.min(left / 2) / WHOLE_BYTES * WHOLE_BYTES;
        let wanted = if far_ahead { left } else { whole_pages };
        wanted.clamp(self.fragment_bytes(), self.byte_count() / 4).min(left)
    }

    #[inline(always)]
    fn fits(&self, cells: u32, lines: u32) -> bool {
        self.next_cell.wrapping_sub(self.returned_cells) + cells <= self.place.cell_count
            && self.next_line.wrapping_sub(self.returned_lines) + lines <= self.place.line_count
    }

    fn read_credit(&mut self) {
        // SAFETY: `new` was promised a mapped ring.
        let credit = unsafe { &*self.place.credit };
        // Acquire, partner of the release in `Consumer::return_credit`: the receiver's reads of the cells that it
        // returns come before our writes over them.
        let word = Returned::from_word(credit.0.load(Ordering::Acquire));
        let cells_owing = (self.next_cell as u16).wrapping_sub(word.cells);
        self.returned_cells = self.next_cell.wrapping_sub(u32::from(cells_owing));
        // With an answer unread the lines may be that one's. Whoever waits for room takes in what arrives, and looks again.
        if word.answers == self.answers {
            self.lines_returned(word.lines);
        }
    }

    /// Lines are free up to a position, unless more are known to be: a word may be older than an answer, or than a new beginning.
    #[inline]
    fn lines_returned(&mut self, up_to: u32) {
        if (up_to.wrapping_sub(self.returned_lines) as i32) > 0 {
            self.returned_lines = up_to;
        }
    }

    /// An answer in this ring's lines up to a position has been read.
    #[inline]
    pub(super) fn take_back(&mut self, up_to: u32) {
        self.answers = self.answers.wrapping_add(1);
        self.lines_returned(up_to);
    }

    /// What is pushed next answers a message. If it is short it asks for no lines ahead, which it would wait for (64 bytes to
    /// and fro in two cells, two cores of a Zen 5: 75 ns with asking and 66 without while a line takes 40; a loop that does nothing
    /// else 53 and 42, and 264 and 206 while a line takes 200).
    #[inline(always)]
    pub(crate) fn begin_answer(&mut self) {
        self.in_a_row = false;
    }

    /// Asks for the lines that are written next but some, if they are known to be free.
    #[inline(always)]
    fn prepare(&self, cells: u32) {
        if self.fits(AHEAD_CELLS + cells, 0) {
            for cell in 0..cells {
                will_write(self.place.cell(self.next_cell.wrapping_add(AHEAD_CELLS + cell)));
            }
        }
    }

    /// Puts a message of at most [`SHORT_BYTES`] into the ring, with its kind, tag and context; false if it is full.
    #[inline(always)]
    pub(crate) fn push_short(&mut self, (kind, tag, context): (u8, u32, u32), data: &[u8]) -> bool {
        let bytes = data.len();
        let cells = 1 + u32::from(bytes > INLINE_BYTES);
        if !self.has(cells, 0) {
            return false;
        }
        if std::mem::replace(&mut self.in_a_row, true) {
            self.prepare(cells);
        }
        if bytes > INLINE_BYTES {
            self.write_rest(&data[INLINE_BYTES..]);
        }
        let cell = self.place.cell(self.next_cell);
        // SAFETY: `has` saw this cell's credit, so the receiver is done with it, and will not look until it is published; the
        // payload has room for INLINE_BYTES, and no more are copied.
        cell.body.with_mut(|room| unsafe {
            let room = &mut *room;
            (room.kind, room.inline_bytes, room.lines) = (kind, bytes as u8, 0);
            (room.tag, room.context) = (tag, context);
            copy_short(data.as_ptr(), room.payload.as_mut_ptr().cast(), bytes.min(INLINE_BYTES));
        });
        self.publish(cell, cells);
        true
    }

    /// Writes the end of a short message into the second cell. The caller has seen room for both.
    fn write_rest(&self, rest: &[u8]) {
        assert!(rest.len() <= size_of::<Body>());
        let next = self.next_cell.wrapping_add(1);
        let cell = self.place.cell(next);
        // Not the number of this position, whatever stood here before: nobody looks for a message here, now or a lap on.
        cell.sequence.store(next, Ordering::Relaxed);
        // SAFETY: the caller saw this cell's credit, the receiver looks here only after the store in `publish`, and the bytes
        // fit a body.
        cell.body.with_mut(|to| unsafe { copy_short(rest.as_ptr(), to.cast(), rest.len()) });
    }

    /// Puts a message into the ring, `data` into lines of `back` that this rank owes, if there are enough, else into its byte ring. The
    /// caller has seen [`Producer::has_room_for`] it.
    #[inline]
    pub(crate) fn push(&mut self, body: Body, data: &[u8], back: Option<&mut Consumer>) {
        let lines = lines_for(data.len());
        let (ring, line) = if lines == 0 { (0, 0) } else { self.place_data(data, back) };
        self.prepare(1);
        debug_assert!(self.fits(1, 0), "the caller looks for room first");
        let cell = self.place.cell(self.next_cell);
        // SAFETY: the caller saw this cell's credit, so the receiver is done with it, and will not look until it is published.
        cell.body.with_mut(|room| unsafe {
            let room = &mut *room;
            *room = body;
            if lines > 0 {
                // In the cell, not before: what has just been written in parts is slow to be read as a whole.
                room.lines = lines as u16;
                (room.payload[RING_WORD], room.payload[LINE_WORD]) = (ring, line);
            }
        });
        self.publish(cell, 1);
    }

    /// Copies `data` to where it waits for the receiver, and says whose lines those are and where they begin.
    #[inline]
    fn place_data(&mut self, data: &[u8], back: Option<&mut Consumer>) -> (u32, u32) {
        if let Some(back) = back {
            back.count_sent(lines_for(data.len()));
            if let Some(line) = back.answer(data) {
                return (ANSWER, line);
            }
        }
        (0, self.write(data))
    }

    /// Makes the next cell visible, and with it what lies in the rest of `cells` cells. There is no other producer.
    #[inline(always)]
    fn publish(&mut self, cell: &Cell, cells: u32) {
        // Release, partner of the acquire in `Consumer::peek`.
        cell.sequence.store(self.next_cell.wrapping_add(1), Ordering::Release);
        self.next_cell = self.next_cell.wrapping_add(cells);
    }

    /// Copies `data` into the byte ring, and says from which line on. What a cell says of it lets a ring that is known to be empty begin
    /// anew at its start: a ping-pong then stays in the lines of one message, which a near cache holds (two processes that only copy,
    /// on two cores of a Zen 5, 16 KiB: 0.41 us instead of 0.52, with answers alone 0.54).
    #[inline]
    fn write(&mut self, data: &[u8]) -> u32 {
        if self.returned_lines == self.next_line {
            self.next_line = self.place.next_start(self.next_line);
            self.returned_lines = self.next_line;
        }
        let line = self.next_line;
        // SAFETY: the caller of `push` has seen that these lines are free.
        unsafe { self.place.copy_in(line, data) };
        self.next_line = line.wrapping_add(lines_for(data.len()));
        line
    }
}
