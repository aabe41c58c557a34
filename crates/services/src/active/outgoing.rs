//! A message before it is sent.

use contract::{Buffer, EAGER_BYTES};

use super::wire::{Header, Load, Purpose, Writer};
use crate::{Error, MEDIUM_BYTES_MAX, Result, WORDS_MAX};

/// The data of a message to send, in addition to words.
pub(super) enum Content<'a> {
    None,
    Medium(&'a [u8]),
    Long { offset: u64, buffer: Buffer },
}

/// A message that is written except for its credits.
pub(super) struct Outgoing {
    pub(super) header: Header,
    /// Length of the message.
    pub(super) bytes: usize,
    /// The data of a long message.
    pub(super) buffer: Option<Buffer>,
}

impl Content<'_> {
    /// Refuses a message that rank `to` could not take.
    #[inline]
    pub(super) fn check(&self, to: usize, words: &[u64], segment_bytes: u64) -> Result<()> {
        if words.len() > WORDS_MAX {
            return Err(Error::TooManyWords { words: words.len() });
        }
        match self {
            Content::None => Ok(()),
            Content::Medium(data) if data.len() > MEDIUM_BYTES_MAX => {
                Err(Error::TooMuchData { bytes: data.len() })
            }
            Content::Medium(_) => Ok(()),
            Content::Long { offset, buffer } => {
                let (offset, bytes) = (*offset, buffer.len() as u64);
                if offset.checked_add(bytes).is_some_and(|end| end <= segment_bytes) {
                    return Ok(());
                }
                Err(Error::OutsideSegment { to, offset, bytes, segment_bytes })
            }
        }
    }
}

/// Writes a message that [`Content::check`] has accepted.
#[inline]
pub(super) fn write(
    message: &mut [u8; EAGER_BYTES],
    purpose: Purpose,
    handler: u8,
    words: &[u64],
    content: Content<'_>,
) -> Outgoing {
    let mut writer = Writer::new(message);
    writer.words(words);
    let (load, buffer) = match content {
        Content::None => (Load::None, None),
        Content::Medium(data) => {
            writer.data(data);
            (Load::Medium, None)
        }
        Content::Long { offset, buffer } => {
            writer.words(&[offset, buffer.len() as u64]);
            (Load::Long, Some(buffer))
        }
    };
    let bytes = writer.len();
    let header = Header { purpose, load, number: handler, words: words.len() as u8, credits: 0 };
    Outgoing { header, bytes, buffer }
}
