//! The receiver's end of a ring.

use super::copy::will_read;
use super::{Body, INLINE_BYTES, LINE_BYTES, LINE_WORD, Place, Producer, Returned, lines_for};
use crate::primitive::{Ordering, spin_loop};

/// How many cells ahead the receiver asks for the line that it will read, once it has found two messages in a row: else it waits
/// for each line in turn where they come from far (a line in 260 ns, 8 bytes: 47 instead of 97 ns for each message).
const AHEAD_READ_CELLS: u32 = 4;

/// The receiver's end.
pub(crate) struct Consumer {
    place: Place,
    /// The ring that leads back: its lines hold the answers that come through this one.
    answers_place: Place,
    next_cell: u32,
    next_line: u32,
    /// What has been given back; of the lines by credit or by answers.
    returned_cells: u32,
    returned_lines: u32,
    /// How many answers went into lines of this ring.
    answers: u16,
    /// How many lines this rank has sent the other way, less those that went back by credit since; see `due_lines`.
    sent_lines: u32,
}

impl Consumer {
    /// `answers` is the ring that leads back.
    ///
    /// # Safety
    /// As [`Producer::new`] of both places, with no other consumer.
    pub(crate) unsafe fn new(place: Place, answers: Place) -> Self {
        Consumer {
            place,
            answers_place: answers,
            next_cell: 0,
            next_line: 0,
            returned_cells: 0,
            returned_lines: 0,
            answers: 0,
            sent_lines: 0,
        }
    }

    /// The oldest message, if one is there.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&Body> {
        let cell = self.place.cell(self.next_cell);
        // Acquire, partner of the release in `Producer::publish`.
        if cell.sequence.load(Ordering::Acquire) != self.next_cell.wrapping_add(1) {
            return None;
        }
        // SAFETY: the sequence says that the sender has published this cell; it writes it again only after our credit.
        Some(cell.body.with(|body| unsafe { &*body }))
    }

    /// The oldest message, looking for it up to `looks` times. The pause between two looks matters: without it the
    /// processor has a dozen loads of the line under way when the sender takes it, and has to undo them all (two cores of
    /// a Zen 5: 72 ns for a half round trip without, 50 ns with it).
    #[inline]
    pub(crate) fn await_message(&self, looks: u32) -> Option<&Body> {
        for _ in 1..looks {
            if let Some(body) = self.peek() {
                return Some(body);
            }
            spin_loop();
        }
        self.peek()
    }

    /// Asks for the line of a cell that is read soon. Only while messages lie there one after the other: else the line is taken
    /// from the sender before it has written it.
    #[inline(always)]
    pub(crate) fn prepare(&self) {
        will_read(self.place.cell(self.next_cell.wrapping_add(AHEAD_READ_CELLS)));
    }

    /// The bytes of the oldest message, which is short, behind its first [`INLINE_BYTES`].
    #[inline]
    pub(crate) fn rest(&self, body: &Body) -> &[u8] {
        let bytes = usize::from(body.inline_bytes).saturating_sub(INLINE_BYTES);
        if bytes == 0 {
            return &[];
        }
        let cell = self.place.cell(self.next_cell.wrapping_add(1));
        let bytes = bytes.min(size_of::<Body>());
        // SAFETY: the sender wrote these bytes before it published the cell that `peek` returned, and leaves them alone until
        // our credit for both; they lie within the body.
        cell.body.with(|place| unsafe { std::slice::from_raw_parts(place.cast(), bytes) })
    }

    /// The first `bytes` bytes that belong to the oldest message, in two parts where they wrap round the ring's end.
    #[inline]
    pub(crate) fn data(&self, body: &Body, bytes: usize) -> (&[u8], &[u8]) {
        let place = if body.is_answer() { &self.answers_place } else { &self.place };
        let bytes = bytes.min(usize::from(body.lines) * LINE_BYTES);
        let (from, first, rest) = place.parts(body.payload[LINE_WORD], bytes);
        // SAFETY: both parts lie inside the byte ring; the sender wrote them before it published the cell that `peek`
        // returned, and leaves them alone until our credit, or, if they are our own, until we use them.
        unsafe {
            (std::slice::from_raw_parts(from, first), std::slice::from_raw_parts(place.bytes, rest))
        }
    }

    /// How many lines have been read and not given back.
    #[inline]
    pub(super) fn owing_lines(&self) -> u32 {
        self.next_line.wrapping_sub(self.returned_lines)
    }

    /// Gives up the oldest message, which has `cells` cells and no lines, and says whether credits went back, for which a
    /// sender may be waiting.
    #[inline]
    pub(crate) fn pop_short(&mut self, cells: u32) -> bool {
        self.next_cell = self.next_cell.wrapping_add(cells);
        let due = self.owes_many_cells();
        if due {
            self.return_credit();
        }
        due
    }

    /// The same for any message, `left_bytes` of which are still to come. `back` leads to its sender.
    #[inline]
    pub(crate) fn pop(&mut self, body: &Body, left_bytes: usize, back: &mut Producer) -> bool {
        if body.lines == 0 {
            return self.pop_short(body.cells());
        }
        self.next_cell = self.next_cell.wrapping_add(1);
        let (line, lines) = (body.payload[LINE_WORD], u32::from(body.lines));
        if body.is_answer() {
            back.take_back(line.wrapping_add(lines));
        } else {
            if line != self.next_line {
                // The sender, which had everything back, began anew.
                self.returned_lines = line;
            }
            self.next_line = line.wrapping_add(lines);
        }
        let due_lines = self.due_lines(left_bytes);
        if due_lines == 0 && !self.owes_many_cells() {
            return false;
        }
        self.returned_lines = self.returned_lines.wrapping_add(due_lines);
        self.return_credit();
        true
    }

    #[inline]
    fn owes_many_cells(&self) -> bool {
        self.next_cell.wrapping_sub(self.returned_cells) >= self.place.cell_count / 4
    }

    /// How many lines go back now: all of them once they are a quarter of the ring, but for what is kept to answer in. That is as much as
    /// this rank has sent lately, and no more than leaves the sender room for its longest fragment. Of a long message only the end is kept, as
    /// its beginning needs the room.
    #[inline]
    fn due_lines(&mut self, left_bytes: usize) -> u32 {
        let quarter = self.place.line_count / 4;
        let owing = self.owing_lines();
        if owing < quarter {
            return 0;
        }
        let kept = self.sent_lines.min(3 * quarter);
        let left = u32::try_from(left_bytes.div_ceil(LINE_BYTES)).unwrap_or(u32::MAX);
        let due = owing.saturating_add(left).saturating_sub(kept).min(owing);
        if due > 0 {
            self.sent_lines = self.sent_lines.saturating_sub(due.max(quarter));
        }
        due
    }

    /// This rank has sent so many lines the other way. What is remembered of it is forgotten as credits go back: a stream that
    /// nothing answers gets them as early as if nothing had been.
    #[inline]
    pub(super) fn count_sent(&mut self, lines: u32) {
        self.sent_lines = (self.sent_lines + lines).min(2 * self.place.line_count);
    }

    /// Puts `data` into the oldest lines that are owing, if they are enough, which gives them back, and says from which on. The
    /// caller sends a cell that says so.
    #[inline]
    pub(super) fn answer(&mut self, data: &[u8]) -> Option<u32> {
        let lines = lines_for(data.len());
        if self.owing_lines() < lines {
            return None;
        }
        let line = self.returned_lines;
        // SAFETY: these lines have been read and not given back, so the sender leaves them alone until it has read what we put there: no
        // credit word of ours names them, and one that names later lines counts this answer, too.
        unsafe { self.place.copy_in(line, data) };
        self.returned_lines = line.wrapping_add(lines);
        self.answers = self.answers.wrapping_add(1);
        Some(line)
    }

    fn return_credit(&mut self) {
        self.returned_cells = self.next_cell;
        let (cells, answers) = (self.next_cell as u16, self.answers);
        let word = Returned { cells, answers, lines: self.returned_lines }.to_word();
        // SAFETY: `new` was promised a mapped ring.
        let credit = unsafe { &*self.place.credit };
        // Release, partner of the acquire in `Producer::read_credit`.
        credit.0.store(word, Ordering::Release);
    }
}
