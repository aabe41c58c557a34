//! The frames that ranks send: a header of 28 bytes and, for some kinds, a body.

use contract::Untrusted;

/// Length of a header.
pub(crate) const HEADER_BYTES: usize = 28;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole message, in the body.
    Eager = 1,
    /// Request to send: the envelope of a message, which the sender keeps until a CTS.
    Rts,
    /// Clear to send: a receive has matched a message with an RTS.
    Cts,
    /// The message for which a CTS was sent, in the body.
    Data,
    /// Returned credit only.
    Credit,
    /// The sender of this sends and receives no messages of its own any more.
    Leaving,
    /// The sender of this has ended its part of the run. No frame follows.
    Goodbye,
    /// The number and the call id of a collective in which the sender of this waits, or for which it was asked.
    Collective,
    /// The same. Its receiver answers in any case.
    CollectiveQuestion,
    /// The answer, with the receiver's call id, or 0 if it has not made the call or no longer keeps it.
    CollectiveAnswer,
}

/// The header of a frame to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Context of the message. In a Collective: the number with which the context was opened.
    pub(crate) context: u32,
    /// Tag of the message. In a CTS: the receiver's request. In a Collective: its number among those of the context.
    pub(crate) tag: u32,
    /// Length of the message. In a CTS and in data: of the part that fits the receive.
    pub(crate) bytes: u64,
    /// In an RTS and in a CTS: the sender's request. In data: the receiver's. In a Collective: its call id.
    pub(crate) request: u32,
    /// Number of bytes of returned credit.
    pub(crate) credit: u32,
}

/// The header of a frame that has arrived. Context and tag select a receive, or are sent back or compared; every other number
/// is checked where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrivedHeader {
    pub(crate) kind: Kind,
    pub(crate) context: u32,
    pub(crate) tag: u32,
    pub(crate) bytes: Untrusted<u64>,
    pub(crate) request: Untrusted<u32>,
    pub(crate) credit: Untrusted<u32>,
}

impl Header {
    pub(crate) const fn new(kind: Kind) -> Self {
        Header { kind, context: 0, tag: 0, bytes: 0, request: 0, credit: 0 }
    }

    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[4..8].copy_from_slice(&self.context.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.tag.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.request.to_le_bytes());
        bytes[24..].copy_from_slice(&self.credit.to_le_bytes());
        bytes
    }
}

impl ArrivedHeader {
    /// Returns the header in these bytes, or `None` if no rank of this version sends them.
    pub(crate) fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let kind = match bytes[0] {
            1 => Kind::Eager,
            2 => Kind::Rts,
            3 => Kind::Cts,
            4 => Kind::Data,
            5 => Kind::Credit,
            6 => Kind::Leaving,
            7 => Kind::Goodbye,
            8 => Kind::Collective,
            9 => Kind::CollectiveQuestion,
            10 => Kind::CollectiveAnswer,
            _ => return None,
        };
        let length = u64::from(word(12)) | u64::from(word(16)) << 32;
        (bytes[1..4] == [0; 3]).then_some(ArrivedHeader {
            kind,
            context: word(4),
            tag: word(8),
            bytes: Untrusted::new(length),
            request: Untrusted::new(word(20)),
            credit: Untrusted::new(word(24)),
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
            Kind::Rts,
            Kind::Cts,
            Kind::Data,
            Kind::Credit,
            Kind::Leaving,
            Kind::Goodbye,
            Kind::Collective,
        ];
        for kind in kinds {
            let header = Header {
                kind,
                context: 1 << 31 | 6,
                tag: u32::MAX,
                bytes: 5 << 32 | 7,
                request: 3,
                credit: 1 << 30,
            };
            let Header { context, tag, request, .. } = header;
            let (bytes, credit) = (Untrusted::new(header.bytes), Untrusted::new(header.credit));
            let request = Untrusted::new(request);
            let arrived = ArrivedHeader { kind, context, tag, bytes, request, credit };
            assert_eq!(ArrivedHeader::from_bytes(&header.to_bytes()), Some(arrived));
        }
        assert_eq!(ArrivedHeader::from_bytes(&[0; HEADER_BYTES]), None);
        let page = b"GET / HTTP/1.1\r\nHost: example\r\n";
        assert_eq!(ArrivedHeader::from_bytes(page[..HEADER_BYTES].as_array().unwrap()), None);
    }
}
