//! A handler's view of its message, and its permitted actions.

use contract::{Buffer, EAGER_BYTES};

use super::outgoing::{self, Content, Outgoing};
use super::registered::Registered;
use super::wire::Purpose;
use crate::{Error, Result};

/// The received data of a message in addition to its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Nothing.
    Words,
    /// Data that must be copied if they are to outlast the handler.
    Medium(&'a [u8]),
    /// Data that now lie in this rank's segment.
    Long {
        /// Where.
        offset: usize,
        /// The number of bytes.
        bytes: usize,
    },
}

/// The message that a handler is called for.
///
/// A handler has no way to wait, to poll or to send a request: this is all of the service that it can reach.
pub struct Call<'a> {
    pub(super) from: usize,
    pub(super) me: usize,
    pub(super) purpose: Purpose,
    pub(super) words: &'a [u64],
    pub(super) body: Body<'a>,
    pub(super) segment: &'a mut [u8],
    /// The length of the sender's segment.
    pub(super) their_segment_bytes: u64,
    pub(super) registered: Registered,
    pub(super) message: &'a mut [u8; EAGER_BYTES],
    /// The reply, which is sent when the handler returns.
    pub(super) reply: Option<Outgoing>,
}

impl Call<'_> {
    /// The rank that sent the message.
    pub fn from(&self) -> usize {
        self.from
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.me
    }

    /// The words of the message.
    pub fn words(&self) -> &[u64] {
        self.words
    }

    /// The other data of the message.
    pub fn body(&self) -> Body<'_> {
        self.body
    }

    /// The data that the message brought, wherever they lie.
    pub fn data(&self) -> &[u8] {
        match self.body {
            Body::Words => &[],
            Body::Medium(data) => data,
            Body::Long { offset, bytes } => &self.segment[offset..][..bytes],
        }
    }

    /// This rank's segment.
    pub fn segment(&mut self) -> &mut [u8] {
        self.segment
    }

    /// Replies with words. The reply leaves when the handler has returned.
    ///
    /// # Errors
    /// [`Error::SecondReply`], [`Error::ReplyToReply`], and what [`Session::request`](super::Session::request) refuses.
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
