//! A buffer as a message: its number, its length, its words and their checksum.
//!
//! All of it is 16-bit words, the least significant byte first: the number of the buffer in two of them, the number of
//! words, the words, and the checksum of all that precedes it.

use crate::limits::BUFFER_WORDS_MAX;

const WORD_BYTES: usize = size_of::<u16>();
/// Length in bytes of the number of the buffer and of its length.
const HEADER_BYTES: usize = 3 * WORD_BYTES;
/// Length in bytes of the longest message of the service.
pub(super) const BYTES_MAX: usize = HEADER_BYTES + WORD_BYTES * (BUFFER_WORDS_MAX + 1);

// Every fabric buffers a message of this length, so no SEND waits for a receive.
const _: () = assert!(BYTES_MAX <= contract::EAGER_BYTES);

/// The error in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its length is not that of a buffer.
    Length,
    /// Its checksum is not that of its words.
    Checksum { number: u32, sent: u16, found: u16 },
}

/// Returns the checksum of some bytes: the sum of their 16-bit words with carries added at the low end (RFC 1071). It
/// finds every error of one word. It is never zero, so that unwritten memory has no valid checksum.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(WORD_BYTES).map(|word| u16::from_le_bytes([word[0], word[1]]));
    let sum: u32 = words.map(u32::from).sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let folded = (folded & 0xFFFF) + (folded >> 16);
    if folded == 0 { 0xFFFF } else { folded as u16 }
}

/// Writes the message with buffer `number` over `message`.
pub(super) fn encode(number: u32, words: &[u16], message: &mut Vec<u8>) {
    message.clear();
    message.extend_from_slice(&number.to_le_bytes());
    message.extend_from_slice(&(words.len() as u16).to_le_bytes());
    message.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let sum = checksum(message);
    message.extend_from_slice(&sum.to_le_bytes());
}

/// Makes the checksum of an encoded message wrong.
pub(super) fn corrupt_checksum(message: &mut [u8]) {
    if let Some(last) = message.last_mut() {
        *last ^= 0x40;
    }
}

/// Reads a message, whose words replace `words`. Returns the number of the buffer.
pub(super) fn decode(message: &[u8], words: &mut Vec<u16>) -> Result<u32, Fault> {
    let count = message.len().saturating_sub(HEADER_BYTES + WORD_BYTES) / WORD_BYTES;
    let is_whole = message.len() == HEADER_BYTES + WORD_BYTES * (count + 1);
    if !is_whole || !(1..=BUFFER_WORDS_MAX).contains(&count) {
        return Err(Fault::Length);
    }
    let (summed, sum) = message.split_at(message.len() - WORD_BYTES);
    let number = u32::from_le_bytes([summed[0], summed[1], summed[2], summed[3]]);
    let (sent, found) = (u16::from_le_bytes([sum[0], sum[1]]), checksum(summed));
    if sent != found {
        return Err(Fault::Checksum { number, sent, found });
    }
    if usize::from(u16::from_le_bytes([summed[4], summed[5]])) != count {
        return Err(Fault::Length);
    }
    words.clear();
    let body = summed[HEADER_BYTES..].chunks_exact(WORD_BYTES);
    words.extend(body.map(|word| u16::from_le_bytes([word[0], word[1]])));
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 2 + 0 (the number), 2 words, 0xFFFF + 0x0003: 2 + 2 + 0xFFFF + 3 = 0x10006, and the carry makes it 7.
    #[test]
    fn a_message_is_laid_out_as_described() {
        let mut message = Vec::new();
        encode(2, &[0xFFFF, 3], &mut message);
        assert_eq!(message, [2, 0, 0, 0, 2, 0, 0xFF, 0xFF, 3, 0, 7, 0]);
        let mut words = vec![9; 9];
        assert_eq!(decode(&message, &mut words), Ok(2));
        assert_eq!(words, [0xFFFF, 3]);
    }

    #[test]
    fn every_changed_bit_is_found() {
        let mut message = Vec::new();
        encode(77, &[0, 0xFFFF, 0x1234], &mut message);
        for bit in 0..8 * message.len() {
            let mut changed = message.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&changed, &mut Vec::new()).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_is_no_buffer_is_refused() {
        let mut message = Vec::new();
        encode(1, &[5; BUFFER_WORDS_MAX], &mut message);
        assert_eq!(message.len(), BYTES_MAX);
        for cut in 0..message.len() {
            assert!(decode(&message[..cut], &mut Vec::new()).is_err(), "{cut} bytes");
        }
        message.extend_from_slice(&[0, 0]);
        assert_eq!(decode(&message, &mut Vec::new()), Err(Fault::Length));
        assert_eq!(decode(&[0; 8], &mut Vec::new()), Err(Fault::Length));
        assert!(matches!(decode(&[0; 10], &mut Vec::new()), Err(Fault::Checksum { .. })));
    }
}
