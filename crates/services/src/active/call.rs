//! A handler's view of its message, and its permitted actions.

use contract::{Buffer, EAGER_BYTES};

use super::outgoing::{self, Content, Outgoing};
use super::registered::Registered;
use super::wire::Purpose;
use crate::{Error, Result};

/// The received data of a message in addition to its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// No data.
    Words,
    /// Data that the handler must copy to use them after it has returned.
    Medium(&'a [u8]),
    /// Data that are now in this rank's segment.
    Long {
        /// Place in the segment.
        offset: usize,
        /// Number of bytes.
        bytes: usize,
    },
}

/// The message for which a handler is called.
///
/// A handler cannot wait, poll or send a request, because it has access to no other part of the service.
pub struct Call<'a> {
    pub(super) from: usize,
    pub(super) me: usize,
    pub(super) purpose: Purpose,
    pub(super) words: &'a [u64],
    pub(super) body: Body<'a>,
    pub(super) segment: &'a mut [u8],
    /// Length of the sender's segment in bytes.
    pub(super) their_segment_bytes: u64,
    pub(super) registered: Registered,
    pub(super) message: &'a mut [u8; EAGER_BYTES],
    /// The reply, which is sent when the handler returns.
    pub(super) reply: Option<Outgoing>,
}

impl Call<'_> {
    /// Returns the rank that sent the message.
    pub fn from(&self) -> usize {
        self.from
    }

    /// Returns this rank.
    pub fn rank(&self) -> usize {
        self.me
    }

    /// Returns the words of the message.
    pub fn words(&self) -> &[u64] {
        self.words
    }

    /// Returns the other data of the message.
    pub fn body(&self) -> Body<'_> {
        self.body
    }

    /// Returns the data of the message, in the message or in the segment.
    pub fn data(&self) -> &[u8] {
        match self.body {
            Body::Words => &[],
            Body::Medium(data) => data,
            Body::Long { offset, bytes } => &self.segment[offset..][..bytes],
        }
    }

    /// Returns this rank's segment.
    pub fn segment(&mut self) -> &mut [u8] {
        self.segment
    }

    /// Replies with words. The reply is sent when the handler has returned.
    ///
    /// # Errors
    /// [`Error::SecondReply`], [`Error::ReplyToReply`], and those of [`Session::request`](super::Session::request).
    pub fn reply(&mut self, handler: u8, words: &[u64]) -> Result<()> {
        self.reply_with(handler, words, Content::None)
    }

    /// Replies with words and data.
    ///
    /// # Errors
    /// As [`reply`](Call::reply), and [`Error::TooMuchData`].
    pub fn reply_medium(&mut self, handler: u8, words: &[u64], data: &[u8]) -> Result<()> {
        self.reply_with(handler, words, Content::Medium(data))
    }

    /// Replies with words, and with `buffer` for the receiver's segment at `offset`.
    ///
    /// # Errors
    /// As [`reply`](Call::reply), and [`Error::OutsideSegment`].
    pub fn reply_long(
        &mut self,
        handler: u8,
        words: &[u64],
        offset: usize,
        buffer: Buffer,
    ) -> Result<()> {
        self.reply_with(handler, words, Content::Long { offset: offset as u64, buffer })
    }

    fn reply_with(&mut self, handler: u8, words: &[u64], content: Content<'_>) -> Result<()> {
        if self.purpose == Purpose::Reply {
            return Err(Error::ReplyToReply);
        }
        if self.reply.is_some() {
            return Err(Error::SecondReply);
        }
        self.registered.check(handler)?;
        content.check(self.from, words, self.their_segment_bytes)?;
        self.reply = Some(outgoing::write(self.message, Purpose::Reply, handler, words, content));
        Ok(())
    }
}
