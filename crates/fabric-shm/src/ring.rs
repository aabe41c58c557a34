//! One sender's way to one receiver: a ring of cache-line cells, and a ring of bytes for what does not fit a cell.
//!
//! A cell holds its sequence number, an envelope and up to [`INLINE_BYTES`] of payload in one cache line, so that a
//! short message moves one line. The cell at position p (counted from zero, never wrapped) is ready when its sequence
//! number is p + 1; the ring starts as zeros, which is no position's number in its first lap. Longer payloads lie in the
//! byte ring, whose space is used and freed in the order of the cells, so that the cell need not say where.
//!
//! A message that is a little longer goes on in the next cell, whose body is then nothing but bytes: with that it takes as many
//! lines as through the byte ring, and is not begun, continued and ended (64 bytes: 1.3 times as many messages a second).
//!
//! The receiver returns credits for both in one word of another line, and only once a quarter of the ring is owing:
//! the line then moves once in many messages, not once in each.

use crate::primitive::{AtomicU32, AtomicU64, Ordering, UnsafeCell, spin_loop};

/// The size of a cache line, of a cell and of a unit of the byte ring.
pub(crate) const LINE_BYTES: usize = 64;
/// The payload that fits the cell itself.
pub(crate) const INLINE_BYTES: usize = 48;

/// The payload of a message in two cells.
pub(crate) const SHORT_BYTES: usize = INLINE_BYTES + size_of::<Body>();

/// How many cells ahead the sender asks for the line that it will write. Else it waits for each line of a stream in turn, as
/// stores go out in order.
const AHEAD_CELLS: u32 = 8;

/// How many cells ahead the receiver asks for the line that it will read, once it has found two messages in a row: else it waits
/// for each line in turn where they come from far (a line in 260 ns, 8 bytes: 47 instead of 97 ns for each message).
const AHEAD_READ_CELLS: u32 = 4;

/// The least that one cell of a long message brings through the byte ring. Its two copies overlap but for one fragment's, so
/// shorter is better until what each costs shows (two cores of a Zen 5, 256 KiB through a ring of 256 KiB: 38, 57, 58, 52 GB/s
/// with 4, 8, 16 and 32 KiB).
pub(crate) const FRAGMENT_BYTES: usize = 16 << 10;

/// Longer fragments are a multiple of this, a page, so that they begin where the sender's pages do.
const WHOLE_BYTES: usize = 4 << 10;

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
    /// How many lines of the byte ring belong to this cell.
    pub(crate) lines: u16,
    pub(crate) tag: u32,
    pub(crate) context: u32,
    pub(crate) payload: Payload,
}

/// The payload of a cell: user's bytes, or numbers of the protocol.
pub(crate) type Payload = [u32; INLINE_BYTES / 4];

/// The line on which the receiver returns credits: positions up to which it has consumed cells (low half) and lines of
/// the byte ring (high half).
#[repr(C, align(64))]
pub(crate) struct Credit(AtomicU64);

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

/// The sender's end.
pub(crate) struct Producer {
    place: Place,
    next_cell: u32,
    next_line: u32,
    /// The credits last read; reading them again moves the receiver's line.
    returned_cells: u32,
    returned_lines: u32,
}

/// The receiver's end.
pub(crate) struct Consumer {
    place: Place,
    next_cell: u32,
    next_line: u32,
    returned_cells: u32,
    returned_lines: u32,
}

/// How many lines of the byte ring `bytes` take.
pub(crate) fn lines_for(bytes: usize) -> u32 {
    bytes.div_ceil(LINE_BYTES) as u32
}

impl Producer {
    /// # Safety
    /// `place` points to a ring in mapped memory that outlives this, was zero at first, and has no other producer.
    pub(crate) unsafe fn new(place: Place) -> Self {
        Producer { place, next_cell: 0, next_line: 0, returned_cells: 0, returned_lines: 0 }
    }

    /// Whether a cell and `lines` lines are free now.
    #[inline]
    pub(crate) fn has_room(&mut self, lines: u32) -> bool {
        self.has(1, lines)
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
        let word = credit.0.load(Ordering::Acquire);
        self.returned_cells = word as u32;
        self.returned_lines = (word >> 32) as u32;
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
        self.prepare(cells);
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

    /// Puts a message into the ring, `data` into its byte ring. The caller has seen [`Producer::has_room`] for
    /// `lines_for(data.len())`.
    #[inline]
    pub(crate) fn push(&mut self, mut body: Body, data: &[u8]) {
        if !data.is_empty() {
            body.lines = lines_for(data.len()) as u16;
            self.copy_in(data);
        }
        self.prepare(1);
        debug_assert!(self.fits(1, 0), "the caller looks for room first");
        let cell = self.place.cell(self.next_cell);
        // SAFETY: the caller saw this cell's credit, so the receiver is done with it, and will not look until it is published.
        cell.body.with_mut(|room| unsafe { *room = body });
        self.publish(cell, 1);
    }

    /// Makes the next cell visible, and with it what lies in the rest of `cells` cells. There is no other producer.
    #[inline(always)]
    fn publish(&mut self, cell: &Cell, cells: u32) {
        // Release, partner of the acquire in `Consumer::peek`.
        cell.sequence.store(self.next_cell.wrapping_add(1), Ordering::Release);
        self.next_cell = self.next_cell.wrapping_add(cells);
    }

    fn copy_in(&mut self, data: &[u8]) {
        let start = (self.next_line & (self.place.line_count - 1)) as usize * LINE_BYTES;
        let first = data.len().min(self.place.line_count as usize * LINE_BYTES - start);
        // SAFETY: `has_room` saw credit for these lines; both parts lie inside the byte ring.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), self.place.bytes.add(start), first);
            std::ptr::copy_nonoverlapping(
                data[first..].as_ptr(),
                self.place.bytes,
                data.len() - first,
            );
        }
        self.next_line = self.next_line.wrapping_add(lines_for(data.len()));
    }
}

impl Consumer {
    /// # Safety
    /// As [`Producer::new`], with no other consumer.
    pub(crate) unsafe fn new(place: Place) -> Self {
        Consumer { place, next_cell: 0, next_line: 0, returned_cells: 0, returned_lines: 0 }
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
    pub(crate) fn data(&self, bytes: usize) -> (&[u8], &[u8]) {
        let size = self.place.line_count as usize * LINE_BYTES;
        let start = (self.next_line & (self.place.line_count - 1)) as usize * LINE_BYTES;
        let bytes = bytes.min(size);
        let first = bytes.min(size - start);
        // SAFETY: both parts lie inside the byte ring; the sender wrote them before it published the cell that `peek`
        // returned, and leaves them alone until our credit.
        unsafe {
            (
                std::slice::from_raw_parts(self.place.bytes.add(start), first),
                std::slice::from_raw_parts(self.place.bytes, bytes - first),
            )
        }
    }

    /// Gives up the oldest message, which has `cells` cells and `lines` lines of the byte ring, and says whether credits went
    /// back, for which a sender may be waiting.
    #[inline]
    pub(crate) fn pop(&mut self, cells: u32, lines: u16) -> bool {
        self.next_cell = self.next_cell.wrapping_add(cells);
        self.next_line = self.next_line.wrapping_add(u32::from(lines));
        let owing_cells = self.next_cell.wrapping_sub(self.returned_cells);
        let owing_lines = self.next_line.wrapping_sub(self.returned_lines);
        if owing_cells < self.place.cell_count / 4 && owing_lines < self.place.line_count / 4 {
            return false;
        }
        self.return_credit();
        true
    }

    fn return_credit(&mut self) {
        self.returned_cells = self.next_cell;
        self.returned_lines = self.next_line;
        let word = u64::from(self.next_cell) | u64::from(self.next_line) << 32;
        // SAFETY: `new` was promised a mapped ring.
        let credit = unsafe { &*self.place.credit };
        // Release, partner of the acquire in `Producer::read_credit`.
        credit.0.store(word, Ordering::Release);
    }
}

impl Body {
    /// How many cells the message has.
    #[inline]
    pub(crate) fn cells(&self) -> u32 {
        1 + u32::from(usize::from(self.inline_bytes) > INLINE_BYTES)
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
}

/// Asks for a line, to write to it soon. No more than a wish.
#[inline]
fn will_write(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and fails nowhere.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Asks for a line, to read it soon. No more than a wish.
#[inline]
fn will_read(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and fails nowhere.
    unsafe {
        std::arch::asm!("prefetcht0 [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Copies `bytes` bytes, at most a [`Body`]'s, without calling out: overlapping moves of a fixed size, which take a
/// third of the time of `memcpy` for a length that the compiler does not know.
///
/// # Safety
/// Both places hold `bytes` bytes and do not overlap.
#[inline]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
    /// Moves one `T` at both ends; for lengths of one `T` to two.
    ///
    /// # Safety
    /// As above, with `bytes >= size_of::<T>()`.
    #[inline]
    unsafe fn both_ends<T: Copy>(from: *const u8, to: *mut u8, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: both moves lie within `bytes`.
        unsafe {
            let (first, second) =
                (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(first);
            to.add(last).cast::<T>().write_unaligned(second);
        }
    }
    debug_assert!(bytes <= size_of::<Body>());
    // SAFETY: each arm moves within `bytes`; the last begins with 32 bytes and ends with as many.
    unsafe {
        match bytes {
            0 => {}
            1 => *to = *from,
            2..4 => both_ends::<u16>(from, to, bytes),
            4..8 => both_ends::<u32>(from, to, bytes),
            8..16 => both_ends::<u64>(from, to, bytes),
            16..=32 => both_ends::<u128>(from, to, bytes),
            _ => {
                both_ends::<u128>(from, to, 32);
                both_ends::<u128>(from.add(bytes - 32), to.add(bytes - 32), 32);
            }
        }
    }
}

#[cfg(test)]
mod tests;
