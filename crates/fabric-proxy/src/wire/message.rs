//! The contents of a line's buffer: messages, each of a head and data.
//!
//! Serde encodes the head in the format of `postcard`. The data follow the two lengths unchanged, and the head follows
//! the data: so an end can write data, such as a message that it receives, before it knows the head.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::line::{Line, ROOM_BYTES};

/// Bytes of the two lengths in front of a message.
const LENGTHS: usize = 16;

/// Writes a message into the buffer of a line.
pub struct Writer<'a> {
    line: &'a Line,
    begin: usize,
    /// End of the data so far.
    end: usize,
}

/// A message that the other end has written.
pub struct WrittenMessage<'a, H> {
    /// Its head.
    pub head: H,
    /// Its data.
    pub data: Data<'a>,
    /// Offset of the next message.
    pub end: usize,
}

/// The place of a message's data. They are there until this end writes, or passes the turn on.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    line: &'a Line,
    start: usize,
    bytes: usize,
}

impl<'a> Data<'a> {
    /// Returns the data. This end must not write as long as it uses them.
    pub fn bytes(self) -> &'a [u8] {
        // SAFETY: the range is in the buffer, and nothing writes there during this end's turn, by its promise.
        unsafe { std::slice::from_raw_parts(self.line.room().add(self.start), self.bytes) }
    }
}

impl<'a> Writer<'a> {
    /// Creates it, for the end that has the turn and has read the contents.
    pub fn new(line: &'a Line) -> Self {
        Writer::behind(line, 0)
    }

    /// As [`new`](Self::new), behind `begin` bytes that this end has written before, in the same turn.
    pub fn behind(line: &'a Line, begin: usize) -> Self {
        if begin == 0 {
            line.shrink();
        }
        Writer { line, begin, end: begin + LENGTHS }
    }

    /// Appends data.
    pub fn data(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
        self.keep(bytes.len());
    }

    /// Returns memory behind the data. [`keep`](Self::keep) appends what the caller has written there.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        self.bytes(self.end, bytes)
    }

    /// Appends the first `bytes` bytes of the [`room`](Self::room).
    pub fn keep(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// Ends the message. Returns the number of bytes of the buffer in use.
    pub fn end(mut self, head: &impl Serialize) -> usize {
        let room = self.bytes(self.end, ROOM_BYTES - self.end);
        let head_bytes = postcard::to_slice(head, room).expect("a line has room for heads").len();
        let data_bytes = self.end - self.begin - LENGTHS;
        let lengths = self.bytes(self.begin, LENGTHS);
        lengths[..8].copy_from_slice(&data_bytes.to_ne_bytes());
        lengths[8..].copy_from_slice(&head_bytes.to_ne_bytes());
        let end = self.end + head_bytes;
        self.line.set_bytes(end);
        end
    }

    fn bytes(&mut self, start: usize, bytes: usize) -> &mut [u8] {
        let is_inside = start <= ROOM_BYTES && bytes <= ROOM_BYTES - start;
        assert!(is_inside, "a line carries at most {ROOM_BYTES} bytes");
        // SAFETY: the range is in the buffer, which is this end's while it writes.
        unsafe { std::slice::from_raw_parts_mut(self.line.room().add(start), bytes) }
    }
}

/// Reads the message that begins at `begin`, for the end that has the turn. Returns `None` if there is none with such a
/// head. A head may also be the first part of the one that was written.
pub fn read<H: DeserializeOwned>(line: &Line, begin: usize) -> Option<WrittenMessage<'_, H>> {
    let all = Data { line, start: 0, bytes: line.bytes() }.bytes();
    let (lengths, rest) = all.get(begin..)?.split_at_checked(LENGTHS)?;
    let length = |at: usize| lengths[at..at + 8].try_into().map_or(0, usize::from_ne_bytes);
    let (data_bytes, head_bytes) = (length(0), length(8));
    let (_, rest) = rest.split_at_checked(data_bytes)?;
    let head = postcard::from_bytes(rest.get(..head_bytes)?).ok()?;
    let start = begin + LENGTHS;
    let data = Data { line, start, bytes: data_bytes };
    Some(WrittenMessage { head, data, end: start + data_bytes + head_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::line::Lines;
    use super::*;

    #[test]
    fn messages_are_read_one_by_one_and_none_beyond_the_last() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        let mut writer = Writer::new(&line);
        writer.data(b"seven b");
        writer.room(100)[..3].copy_from_slice(b"abc");
        writer.keep(3);
        let middle = writer.end(&(3_u64, true));
        let end = Writer::behind(&line, middle).end(&7_u8);
        assert_eq!(line.bytes(), end);
        let first = read::<(u64, bool)>(&line, 0).unwrap();
        assert_eq!((first.head, first.end), ((3, true), middle));
        assert_eq!(first.data.bytes(), b"seven babc");
        assert_eq!(read::<u64>(&line, 0).unwrap().head, 3, "the first part of a head");
        let second = read::<u8>(&line, middle).unwrap();
        assert_eq!((second.head, second.data.bytes(), second.end), (7, &[][..], end));
        for begin in [end, end + 1, usize::MAX] {
            assert!(read::<u8>(&line, begin).is_none());
        }
    }

    /// The other end may be another program, with any bytes in its memory.
    #[test]
    fn contents_that_are_no_message_are_none() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        for lengths in [[9, 1], [0, 10], [usize::MAX, 1], [1, usize::MAX]] {
            let mut writer = Writer::new(&line);
            writer.data(&[0; 8]);
            writer.end(&0_u8);
            let mut writer = Writer::behind(&line, 0);
            let bytes = lengths.map(usize::to_ne_bytes);
            writer.bytes(0, LENGTHS).copy_from_slice(bytes.as_flattened());
            assert!(read::<u8>(&line, 0).is_none(), "{lengths:?}");
        }
        // A head that the format does not have: no truth value is 2.
        Writer::new(&line).end(&2_u8);
        assert!(read::<bool>(&line, 0).is_none());
    }
}
