//! The contents of a line's buffer: numbers of eight bytes, and sequences of bytes after their length.

use contract::{Envelope, Request, Selector};

use crate::line::{Line, ROOM_BYTES};

/// Writes into the buffer of a line.
pub(crate) struct Writer<'a> {
    line: &'a Line,
    at: usize,
}

/// Reads the contents that the other end has written. Contents behind the end read as zero, or empty.
pub(crate) struct Reader<'a> {
    line: &'a Line,
    at: usize,
    end: usize,
}

/// Number for no rank or no tag.
const NONE: u64 = u64::MAX;

impl<'a> Writer<'a> {
    /// Creates it, for the end that has the turn and has read the contents.
    pub(crate) fn new(line: &'a Line) -> Self {
        line.shrink();
        Writer { line, at: 0 }
    }

    /// As [`new`](Self::new), behind `at` bytes that this end has written before, in the same turn.
    pub(crate) fn behind(line: &'a Line, at: usize) -> Self {
        if at == 0 { Writer::new(line) } else { Writer { line, at } }
    }

    /// Begins a part with a length in front. Returns the argument for [`Writer::end_part`].
    pub(crate) fn begin_part(&mut self) -> usize {
        self.number(0);
        self.at
    }

    /// Ends a part. Returns the number of bytes of the buffer in use.
    pub(crate) fn end_part(mut self, begin: usize) -> usize {
        let end = std::mem::replace(&mut self.at, begin - 8);
        self.number((end - begin) as u64);
        self.at = end;
        self.end();
        end
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.raw(8).copy_from_slice(&number.to_ne_bytes());
    }

    pub(crate) fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|&number| self.number(number));
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Returns room for a sequence of bytes, which the caller fills.
    pub(crate) fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.number(bytes as u64);
        &mut self.raw(bytes.next_multiple_of(8))[..bytes]
    }

    pub(crate) fn envelope(&mut self, envelope: &Envelope) {
        let Envelope { context, source, tag, bytes, room } = *envelope;
        self.numbers(&[context.into(), source.into(), tag.into(), bytes as u64, room as u64]);
    }

    /// Writes envelopes after their number.
    pub(crate) fn envelopes(&mut self, envelopes: &[Envelope]) {
        self.number(envelopes.len() as u64);
        envelopes.iter().for_each(|envelope| self.envelope(envelope));
    }

    fn raw(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.at;
        self.at += bytes;
        assert!(self.at <= ROOM_BYTES, "a line carries at most {ROOM_BYTES} bytes");
        // SAFETY: the range is in the buffer, which is this end's while it writes.
        unsafe { std::slice::from_raw_parts_mut(self.line.room().add(start), bytes) }
    }

    /// Ends the contents.
    pub(crate) fn end(self) {
        self.line.set_bytes(self.at);
    }
}

impl<'a> Reader<'a> {
    /// Creates it, for the end that has the turn.
    pub(crate) fn new(line: &'a Line) -> Self {
        Reader { line, at: 0, end: line.bytes() }
    }

    /// Reads the part that begins at `at`. The second result is the beginning of the next part.
    pub(crate) fn part(line: &'a Line, at: usize) -> (Self, usize) {
        let all = line.bytes();
        let mut reader = Reader { line, at: at.min(all), end: all };
        let length = reader.number() as usize;
        reader.end = reader.at.saturating_add(length).min(all);
        let end = reader.end;
        (reader, end)
    }

    pub(crate) fn number(&mut self) -> u64 {
        let bytes = self.raw(8);
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    }

    pub(crate) fn numbers<const N: usize>(&mut self) -> [u64; N] {
        std::array::from_fn(|_| self.number())
    }

    /// Returns a sequence of bytes, which is valid until the turn is passed on.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let bytes = self.number() as usize;
        let padded = self.raw(bytes.next_multiple_of(8));
        padded.get(..bytes).unwrap_or_default()
    }

    pub(crate) fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Returns envelopes after their number.
    pub(crate) fn envelopes(&mut self) -> Vec<Envelope> {
        (0..self.number()).map(|_| self.envelope()).collect()
    }

    pub(crate) fn envelope(&mut self) -> Envelope {
        let [context, source, tag, bytes, room] = self.numbers();
        Envelope {
            context: context as u32,
            source: source as u32,
            tag: tag as u32,
            bytes: bytes as usize,
            room: room as usize,
        }
    }

    fn raw(&mut self, bytes: usize) -> &'a [u8] {
        if bytes > self.end - self.at {
            self.at = self.end;
            return &[];
        }
        let start = self.at;
        self.at += bytes;
        // SAFETY: the range is in the buffer, and nothing writes there during this end's turn.
        unsafe { std::slice::from_raw_parts(self.line.room().add(start), bytes) }
    }
}

/// Returns a selector as numbers.
pub(crate) fn selector_numbers(selector: Selector) -> [u64; 3] {
    let number = |number: Option<u32>| number.map_or(NONE, u64::from);
    [selector.context.into(), number(selector.source), number(selector.tag)]
}

pub(crate) fn selector_of([context, source, tag]: [u64; 3]) -> Selector {
    let number = |number: u64| (number != NONE).then_some(number as u32);
    Selector { context: context as u32, source: number(source), tag: number(tag) }
}

pub(crate) fn request_of(number: u64) -> Request {
    Request(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Lines;

    #[test]
    fn what_is_written_is_read_in_order_and_nothing_behind_it() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        let envelope = Envelope { context: 7, source: 1, tag: u32::MAX, bytes: 9, room: 1 << 40 };
        let mut writer = Writer::new(&line);
        writer.numbers(&[3, u64::MAX]);
        writer.bytes(b"seven b");
        writer.room(3).copy_from_slice(b"abc");
        writer.bytes(&[]);
        writer.envelope(&envelope);
        writer.end();
        let mut reader = Reader::new(&line);
        assert_eq!(reader.numbers(), [3, u64::MAX]);
        assert_eq!((reader.bytes(), reader.text()), (&b"seven b"[..], "abc".to_string()));
        assert_eq!(reader.bytes(), b"");
        assert_eq!(reader.envelope(), envelope);
        assert_eq!((reader.number(), reader.bytes(), reader.number()), (0, &[][..], 0));
    }

    #[test]
    fn parts_are_read_one_by_one_and_none_beyond_its_end() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        let mut used = 0;
        for number in [5, 6] {
            let mut writer = Writer::behind(&line, used);
            let begin = writer.begin_part();
            writer.number(number);
            writer.bytes(b"x");
            used = writer.end_part(begin);
        }
        assert_eq!(used, line.bytes());
        let (mut first, next) = Reader::part(&line, 0);
        assert_eq!((first.number(), first.bytes(), first.number()), (5, &b"x"[..], 0));
        let (mut second, end) = Reader::part(&line, next);
        assert_eq!((second.number(), end), (6, used));
        assert_eq!(Reader::part(&line, used).0.number(), 0);
    }

    #[test]
    fn selectors_keep_their_wildcards() {
        for selector in [
            Selector { context: 0, source: None, tag: None },
            Selector { context: 5, source: Some(0), tag: Some(u32::MAX) },
        ] {
            assert_eq!(selector_of(selector_numbers(selector)), selector);
        }
    }

    #[test]
    fn the_messages_of_a_rank_that_waits_for_ever_are_no_reply() {
        let lines = Lines::create(1).unwrap();
        let (own, server) = (lines.line(0), lines.line(0));
        own.ask();
        assert!(server.is_asked() && !own.is_stuck());
        let left = [Envelope { context: 6, source: 1, tag: 9, bytes: 4, room: 4 }; 2];
        let mut writer = Writer::new(&server);
        writer.envelopes(&left);
        writer.end();
        server.leave_stuck();
        assert!(own.is_stuck() && !own.await_answer(std::time::Duration::from_millis(1)));
        assert_eq!(Reader::new(&own).envelopes(), left);
        // A second reader, for a second question, sees the same.
        assert_eq!(Reader::new(&own).envelopes().len(), 2);
    }
}
