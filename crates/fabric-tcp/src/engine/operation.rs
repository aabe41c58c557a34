//! What is under way at a rank, and the memory that it works on.

use contract::{Buffer, Error, Result, Source, Status, Tag, TagSelector};

/// The memory of a call that waits until it is done: it is lent to the engine in every step of it, and never kept.
pub(crate) struct Lent<'a> {
    pub(crate) send: &'a [u8],
    pub(crate) receive: &'a mut [u8],
}

impl Lent<'_> {
    /// For calls of posted operations, which own theirs.
    pub(crate) fn nothing() -> Self {
        Lent { send: &[], receive: &mut [] }
    }
}

/// Where the bytes of an operation are.
pub(crate) enum Memory {
    Owned(Buffer),
    /// In what the call under way has lent.
    Lent,
}

pub(crate) enum Operation {
    Send(Sending),
    Receive(Receiving),
}

pub(crate) struct Sending {
    pub(crate) to: usize,
    pub(crate) tag: Tag,
    pub(crate) bytes: usize,
    pub(crate) data: Memory,
    pub(crate) done: bool,
}

pub(crate) struct Receiving {
    pub(crate) from: Source,
    pub(crate) tag: TagSelector,
    pub(crate) room: Memory,
    pub(crate) room_bytes: usize,
    /// The message that it was matched with.
    pub(crate) message: Option<Status>,
    pub(crate) done: bool,
}

impl Operation {
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Operation::Send(send) => send.done,
            Operation::Receive(receive) => receive.done,
        }
    }
}

impl Sending {
    /// The first `bytes` bytes of the message.
    pub(crate) fn data<'a>(&'a self, bytes: usize, lent: &'a [u8]) -> &'a [u8] {
        match &self.data {
            Memory::Owned(buffer) => &buffer[..bytes],
            Memory::Lent => &lent[..bytes],
        }
    }
}

impl Receiving {
    /// The room from byte `from` to byte `to`.
    pub(crate) fn room<'a>(
        &'a mut self,
        from: usize,
        to: usize,
        lent: &'a mut [u8],
    ) -> &'a mut [u8] {
        match &mut self.room {
            Memory::Owned(buffer) => &mut buffer[from..to],
            Memory::Lent => &mut lent[from..to],
        }
    }

    pub(crate) fn accepts(&self, from: usize, tag: Tag) -> bool {
        self.from.accepts(from) && self.tag.accepts(tag)
    }

    /// How a receive that is done ended.
    pub(crate) fn outcome(&self) -> Result<Status> {
        let message = self.message.ok_or(Error::UnknownRequest)?;
        if message.bytes <= self.room_bytes {
            return Ok(message);
        }
        Err(Error::Truncated {
            from: message.source,
            tag: message.tag.value(),
            message_bytes: message.bytes,
            buffer_bytes: self.room_bytes,
        })
    }
}
