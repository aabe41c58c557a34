//! The layout of a packet: a header of five 32-bit words, and up to 2048 bytes (MPI-SHARC, figure 2b).
//!
//! | word | contents |
//! |---|---|
//! | 0 | the sources, a bit for each |
//! | 1 | the destinations that the packet has yet to reach, a bit for each |
//! | 2 | the number of bytes that follow, in the lower half |
//! | 3 | the number of the packet within its message in the upper half, the opcode in the lower |
//! | 4 | the tag |
//!
//! Words have their least significant byte first.

use crate::limits::RING_PACKET_BYTES;

const WORD_BYTES: usize = 4;
pub(super) const HEADER_BYTES: usize = 5 * WORD_BYTES;
/// Length of the longest packet in bytes.
pub(super) const PACKET_BYTES_MAX: usize = HEADER_BYTES + RING_PACKET_BYTES;

/// The purpose of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    /// The receiver is ready for a message with this tag.
    ReadyToSend,
    /// Data, with more to follow.
    Data,
    /// The last data of a message.
    LastData,
    /// The token of a barrier, which collects the nodes.
    Collect,
    /// The token of a barrier, which releases the nodes.
    Release,
    /// Nothing follows on this link.
    End,
}

impl Opcode {
    const ALL: [Opcode; 6] = [
        Opcode::ReadyToSend,
        Opcode::Data,
        Opcode::LastData,
        Opcode::Collect,
        Opcode::Release,
        Opcode::End,
    ];
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) sources: u32,
    pub(super) destinations: u32,
    pub(super) bytes: u16,
    /// Number of the packet within its message, modulo 2^16.
    pub(super) number: u16,
    pub(super) opcode: Opcode,
    pub(super) tag: u32,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let opcode = Opcode::ALL.iter().position(|&one| one == self.opcode);
        let opcode = opcode.expect("all of them are in the list") as u32;
        let third = u32::from(self.number) << 16 | opcode;
        let words = [self.sources, self.destinations, self.bytes.into(), third, self.tag];
        let mut bytes = [0; HEADER_BYTES];
        bytes.as_chunks_mut::<WORD_BYTES>().0.iter_mut().zip(words).for_each(|(place, word)| {
            *place = word.to_le_bytes();
        });
        bytes
    }

    /// Reads the header of a packet. Returns `None` if it is not a packet, or its length differs from that in the
    /// header.
    pub(super) fn decode(packet: &[u8]) -> Option<Header> {
        let (header, data) = packet.split_at_checked(HEADER_BYTES)?;
        let (words, _) = header.as_chunks::<WORD_BYTES>();
        let word = |index: usize| u32::from_le_bytes(words[index]);
        let opcode = *Opcode::ALL.get((word(3) & 0xffff) as usize)?;
        let bytes =
            u16::try_from(word(2)).ok().filter(|&bytes| usize::from(bytes) == data.len())?;
        Some(Header {
            sources: word(0),
            destinations: word(1),
            bytes,
            number: (word(3) >> 16) as u16,
            opcode,
            tag: word(4),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_five_words_as_the_paper_lays_them_out() {
        let header = Header {
            sources: 1 << 31,
            destinations: 0b101,
            bytes: 3,
            number: 0x1234,
            opcode: Opcode::LastData,
            tag: 7,
        };
        let mut packet = header.encode().to_vec();
        let expected = [0, 0, 0, 0x80, 5, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0x34, 0x12, 7, 0, 0, 0];
        assert_eq!(packet, expected);
        assert_eq!(Header::decode(&packet), None, "its data are missing");
        packet.extend([1, 2, 3]);
        assert_eq!(Header::decode(&packet), Some(header));
        packet[12] = 6;
        assert_eq!(Header::decode(&packet), None, "no such opcode");
        assert_eq!(Header::decode(&packet[..19]), None);
    }
}
