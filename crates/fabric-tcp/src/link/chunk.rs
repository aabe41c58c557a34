//! The chunks on the connections of a link, each a header of 32 bytes and, for data, a body.

/// Length of a header.
pub(super) const CHUNK_HEADER_BYTES: usize = 32;
/// Length of the longest body. It takes a few hundred microseconds on a line of 1 Gbit/s, so that long messages use
/// several lines at once.
pub(super) const CHUNK_BYTES_MAX: usize = 64 << 10;

/// The kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// Bytes of the stream.
    Data = 1,
    /// An acknowledgement only.
    Acknowledgement,
    /// The sender of this requests an acknowledgement at once.
    Question,
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkHeader {
    pub(super) kind: ChunkKind,
    /// Length of the body.
    pub(super) bytes: u32,
    /// Offset of the body in the stream. In a question: the path on which its sender sees no movement, counted from 1,
    /// or 0.
    pub(super) offset: u64,
    /// The sender of this has all bytes of the other direction's stream before this offset.
    pub(super) received: u64,
    /// Number of bytes of bodies that the sender of this has read from this very connection.
    pub(super) read_here: u64,
}

impl ChunkHeader {
    pub(super) fn to_bytes(self) -> [u8; CHUNK_HEADER_BYTES] {
        let mut bytes = [0; CHUNK_HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[4..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.received.to_le_bytes());
        bytes[24..].copy_from_slice(&self.read_here.to_le_bytes());
        bytes
    }

    /// Returns the header in these bytes, or `None` if it is invalid.
    pub(super) fn from_bytes(bytes: &[u8; CHUNK_HEADER_BYTES]) -> Option<Self> {
        let kind = match bytes[0] {
            1 => ChunkKind::Data,
            2 => ChunkKind::Acknowledgement,
            3 => ChunkKind::Question,
            _ => return None,
        };
        let (words, _) = bytes.as_chunks::<8>();
        let long = |index: usize| u64::from_le_bytes(words[index]);
        let length = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let fits = match kind {
            ChunkKind::Data => (1..=CHUNK_BYTES_MAX).contains(&(length as usize)),
            ChunkKind::Acknowledgement | ChunkKind::Question => length == 0,
        };
        (fits && bytes[1..4] == [0; 3]).then_some(ChunkHeader {
            kind,
            bytes: length,
            offset: long(1),
            received: long(2),
            read_here: long(3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_the_wire_and_rubbish_is_none() {
        for (kind, bytes) in [
            (ChunkKind::Data, CHUNK_BYTES_MAX as u32),
            (ChunkKind::Acknowledgement, 0),
            (ChunkKind::Question, 0),
        ] {
            let (offset, received, read_here) = (1 << 40, 7 << 33, u64::MAX);
            let header = ChunkHeader { kind, bytes, offset, received, read_here };
            assert_eq!(ChunkHeader::from_bytes(&header.to_bytes()), Some(header));
            let longer = ChunkHeader { bytes: bytes + 1, ..header };
            assert_eq!(ChunkHeader::from_bytes(&longer.to_bytes()), None);
        }
        assert_eq!(ChunkHeader::from_bytes(&[0; CHUNK_HEADER_BYTES]), None);
        assert_eq!(ChunkHeader::from_bytes(b"GET / HTTP/1.1\r\nHost: example\r\n\r"), None);
    }
}
