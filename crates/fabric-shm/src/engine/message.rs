//! What the engine says of a message, and how a receive chooses one.

use contract::{Error, Result, Status, Tag};

/// Which messages a receive accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The space of tags; messages of another context never match.
    pub context: u32,
    /// The sender, or any.
    pub source: Option<u32>,
    /// The tag, or any.
    pub tag: Option<u32>,
}

/// A message's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The space of tags it was sent in.
    pub context: u32,
    /// The sender.
    pub source: u32,
    /// Its tag.
    pub tag: u32,
    /// The length of the message.
    pub bytes: usize,
    /// The room that the receive had, or the message's length where there is no receive.
    pub room: usize,
}

impl Selector {
    #[inline]
    pub(crate) fn accepts(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }
}

impl Envelope {
    /// What the contract calls it; a message that did not fit is an error.
    #[inline]
    pub(crate) fn into_status(self) -> Result<Status> {
        let source = self.source as usize;
        if self.bytes > self.room {
            return Err(Error::Truncated {
                from: source,
                tag: self.tag,
                message_bytes: self.bytes,
                buffer_bytes: self.room,
            });
        }
        Ok(Status { source, tag: Tag::from_wire(self.tag), bytes: self.bytes })
    }
}

/// The kinds of cells. Numbers in a payload are listed in their order.
pub(super) mod kind {
    /// A whole message, in the cell.
    pub(crate) const SHORT: u8 = 1;
    /// A message's beginning: its length (two words), the bytes that come with this cell.
    pub(crate) const EAGER: u8 = 2;
    /// More of the message that this sender last began: the bytes that come with this cell.
    pub(crate) const MORE: u8 = 3;
    /// A long message is offered: its length (two words), the sender's request, its place (three words).
    pub(crate) const OFFER: u8 = 4;
    /// The offer is taken, in fragments: the sender's request, the receiver's request.
    pub(crate) const TAKE: u8 = 5;
    /// The beginning of an offered message's data: the receiver's request, the bytes that come with this cell.
    pub(crate) const DATA: u8 = 6;
    /// The receiver copies an offered message and asks the sender to help: the sender's request, the slot and its
    /// generation, the length (two words), the receiver's place (three words).
    pub(crate) const HELP: u8 = 7;
    /// An offered message was copied: the sender's request.
    pub(crate) const DONE: u8 = 8;
}
