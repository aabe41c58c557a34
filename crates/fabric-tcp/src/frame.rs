//! What ranks say to each other: frames of a header of 24 bytes and, for some, a body.

/// The length of a header.
pub(crate) const HEADER_BYTES: usize = 24;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole message, which its body is.
    Eager = 1,
    /// The announcement of a message, which the sender keeps until it is asked for.
    RequestToSend,
    /// The receive of an announced message was found.
    ClearToSend,
    /// An announced message, which its body is.
    Data,
    /// Nothing but a credit.
    Credit,
    /// The sender of this has done its part, and sends nothing more.
    Goodbye,
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The message's tag; of a clear to send, the receiver's number for the message.
    pub(crate) tag: u32,
    /// The length of the message; of a clear to send or data, of the part that the receiver has room for.
    pub(crate) bytes: u64,
    /// Of a request or clear to send, the sender's number for the message; of data, the receiver's.
    pub(crate) id: u32,
    /// Bytes that were taken out of the memory for unexpected messages since the last frame.
    pub(crate) credit: u32,
}

impl Header {
    pub(crate) const fn new(kind: Kind) -> Self {
        Header { kind, tag: 0, bytes: 0, id: 0, credit: 0 }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[4..8].copy_from_slice(&self.tag.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.id.to_le_bytes());
        bytes[20..].copy_from_slice(&self.credit.to_le_bytes());
        bytes
    }

    /// None for bytes that no rank of this version sends.
    pub(crate) fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let kind = match bytes[0] {
            1 => Kind::Eager,
            2 => Kind::RequestToSend,
            3 => Kind::ClearToSend,
            4 => Kind::Data,
            5 => Kind::Credit,
            6 => Kind::Goodbye,
            _ => return None,
        };
        let length = u64::from(word(8)) | u64::from(word(12)) << 32;
        (bytes[1..4] == [0; 3]).then_some(Header {
            kind,
            tag: word(4),
            bytes: length,
            id: word(16),
            credit: word(20),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_the_wire_and_rubbish_is_none() {
        let kinds = [
            Kind::Eager,
            Kind::RequestToSend,
            Kind::ClearToSend,
            Kind::Data,
            Kind::Credit,
            Kind::Goodbye,
        ];
        for kind in kinds {
            let header = Header { kind, tag: u32::MAX, bytes: 5 << 32 | 7, id: 3, credit: 1 << 31 };
            assert_eq!(Header::from_bytes(&header.to_bytes()), Some(header));
        }
        assert_eq!(Header::from_bytes(&[0; HEADER_BYTES]), None);
        assert_eq!(
            Header::from_bytes(b"GET / HTTP/1.1\r\nHost: a\r\n"[..24].as_array().unwrap()),
            None
        );
    }
}
