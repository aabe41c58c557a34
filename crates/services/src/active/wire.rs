//! The layout of a message.
//!
//! The first word has the kind of the message. The words of the program follow, then offset and length of a long
//! message, then the data of a medium one. The data of a long message are a separate message. Numbers are
//! little-endian.

use contract::EAGER_BYTES;

use crate::limits::WORD_BYTES;
use crate::{Error, Result, WORDS_MAX};

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Calls a handler, which may reply.
    Request,
    /// Calls a handler, which may send nothing.
    Reply,
    /// Returns credits.
    Credits,
    /// The sender has come to a round of a barrier.
    Arrived,
}

/// The data of a message in addition to words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    None,
    Medium,
    Long,
}

/// The first word of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) purpose: Purpose,
    pub(super) load: Load,
    /// The handler to call, or the round of a barrier.
    pub(super) number: u8,
    /// Number of words that follow.
    pub(super) words: u8,
    /// Number of requests of the receiver that the sender has handled since its last report.
    pub(super) credits: u16,
}

impl Header {
    /// Creates the header of a message without a call.
    #[inline]
    pub(super) fn control(purpose: Purpose, number: u8, credits: u16) -> Self {
        Header { purpose, load: Load::None, number, words: 0, credits }
    }

    #[inline]
    fn to_word(self) -> u64 {
        self.purpose as u64
            | (self.load as u64) << 8
            | u64::from(self.number) << 16
            | u64::from(self.words) << 24
            | u64::from(self.credits) << 32
    }

    #[inline]
    fn from_word(word: u64) -> Option<Self> {
        let purposes = [Purpose::Request, Purpose::Reply, Purpose::Credits, Purpose::Arrived];
        let loads = [Load::None, Load::Medium, Load::Long];
        Some(Header {
            purpose: *purposes.get(usize::from(word as u8))?,
            load: *loads.get(usize::from((word >> 8) as u8))?,
            number: (word >> 16) as u8,
            words: (word >> 24) as u8,
            credits: (word >> 32) as u16,
        })
    }

    /// Returns the first bytes of a message, which contain the header.
    #[inline]
    pub(super) fn to_bytes(self) -> [u8; WORD_BYTES] {
        self.to_word().to_le_bytes()
    }
}

/// A message that is being written. Its header is written last.
pub(super) struct Writer<'a> {
    bytes: &'a mut [u8; EAGER_BYTES],
    end: usize,
}

impl<'a> Writer<'a> {
    #[inline]
    pub(super) fn new(bytes: &'a mut [u8; EAGER_BYTES]) -> Self {
        Writer { bytes, end: WORD_BYTES }
    }

    #[inline]
    pub(super) fn words(&mut self, words: &[u64]) {
        for word in words {
            self.data(&word.to_le_bytes());
        }
    }

    #[inline]
    pub(super) fn data(&mut self, data: &[u8]) {
        self.bytes[self.end..][..data.len()].copy_from_slice(data);
        self.end += data.len();
    }

    /// Returns the length of the message.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end
    }
}

/// The parts of a received message.
pub(super) struct Parts<'a> {
    pub(super) header: Header,
    /// Offset and length of the data of a long message.
    pub(super) place: (u64, u64),
    pub(super) data: &'a [u8],
}

/// Separates the parts of a message of rank `from`, and puts its words into `words`.
#[inline]
pub(super) fn read<'a>(from: usize, message: &'a [u8], words: &mut Vec<u64>) -> Result<Parts<'a>> {
    let (given, _) = message.as_chunks::<WORD_BYTES>();
    let header = given.first().and_then(|word| Header::from_word(u64::from_le_bytes(*word)));
    let Some(header) = header else { return Err(malformed(from, "its first word has no meaning")) };
    let count = usize::from(header.words);
    let long = usize::from(header.load == Load::Long) * 2;
    if count > WORDS_MAX || given.len() < 1 + count + long {
        return Err(malformed(from, "it is shorter than its first word says"));
    }
    words.clear();
    words.extend(given[1..][..count].iter().map(|word| u64::from_le_bytes(*word)));
    let place = match header.load {
        Load::Long => (u64::from_le_bytes(given[1 + count]), u64::from_le_bytes(given[2 + count])),
        _ => (0, 0),
    };
    Ok(Parts { header, place, data: &message[(1 + count + long) * WORD_BYTES..] })
}

#[cold]
fn malformed(from: usize, what: &str) -> Error {
    Error::Malformed { from, what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MEDIUM_BYTES_MAX;

    #[test]
    fn the_longest_message_is_one_that_every_fabric_buffers() {
        let mut bytes = [0; EAGER_BYTES];
        let header = Header {
            purpose: Purpose::Reply,
            load: Load::Medium,
            number: 255,
            words: WORDS_MAX as u8,
            credits: 7,
        };
        let (sent, data) = ([u64::MAX - 1; WORDS_MAX], [9; MEDIUM_BYTES_MAX]);
        let mut writer = Writer::new(&mut bytes);
        writer.words(&sent);
        writer.data(&data);
        // These are 8 bytes of header, 128 of words and 888 of data.
        assert_eq!((MEDIUM_BYTES_MAX, writer.len()), (888, EAGER_BYTES));
        bytes[..WORD_BYTES].copy_from_slice(&header.to_bytes());
        let mut words = Vec::new();
        let parts = read(0, &bytes, &mut words).unwrap();
        assert_eq!((parts.header, &words[..], parts.data), (header, &sent[..], &data[..]));
    }

    #[test]
    fn offset_and_length_of_a_long_message_follow_its_words() {
        let mut bytes = [0; EAGER_BYTES];
        let header =
            Header { purpose: Purpose::Request, load: Load::Long, number: 1, words: 2, credits: 0 };
        let mut writer = Writer::new(&mut bytes);
        writer.words(&[5, 6, 1 << 40, 3]);
        let end = writer.len();
        bytes[..WORD_BYTES].copy_from_slice(&header.to_bytes());
        let mut words = vec![9];
        let parts = read(0, &bytes[..end], &mut words).unwrap();
        assert_eq!((&words[..], parts.place), (&[5, 6][..], (1 << 40, 3)));
    }

    #[test]
    fn a_message_that_no_service_sends_is_an_error() {
        for bytes in [&[][..], &[9; 8], &[0, 0, 0, 1, 0, 0, 0, 0], &[0, 0, 0, 17, 0, 0, 0, 0]] {
            let read = read(4, bytes, &mut Vec::new());
            assert!(matches!(read, Err(Error::Malformed { from: 4, .. })), "{bytes:?}");
        }
    }
}
