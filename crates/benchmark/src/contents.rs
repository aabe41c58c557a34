//! The contents of blocks, chosen so that a wrong byte is detected.

use contract::{Error, Result};
use random::mix;

/// A stretch of one pseudorandom sequence. A block of another rank, or a shifted one, differs from it at once.
#[derive(Clone, Copy)]
struct Contents {
    begin: u64,
}

impl Contents {
    /// Creates the contents of block `block` of rank `rank`.
    fn new(seed: u64, rank: usize, block: usize) -> Self {
        Contents { begin: mix(mix(mix(seed) ^ rank as u64) ^ block as u64) }
    }

    /// Writes the contents from byte `8 * words` on.
    fn write(self, bytes: &mut [u8], words: usize) {
        let first = self.begin.wrapping_add(words as u64);
        let (whole, rest) = bytes.as_chunks_mut::<8>();
        let last = first.wrapping_add(whole.len() as u64);
        for (word, index) in whole.iter_mut().zip(0..) {
            *word = mix(first.wrapping_add(index)).to_le_bytes();
        }
        rest.copy_from_slice(&mix(last).to_le_bytes()[..rest.len()]);
    }
}

/// Writes the contents of block `block` of rank `rank`.
pub(crate) fn fill(bytes: &mut [u8], seed: u64, rank: usize, block: usize) {
    Contents::new(seed, rank, block).write(bytes, 0);
}

/// Checks that `found` contains the beginning of the block of `origin` (a rank and the number of its block). The error
/// calls it `what` at rank `me`.
///
/// # Errors
/// [`Error::Program`] names the first wrong byte.
pub(crate) fn check_block(
    found: &[u8],
    seed: u64,
    origin: (usize, usize),
    what: &str,
    me: usize,
) -> Result<()> {
    let (from, theirs) = origin;
    match first_wrong(found, seed, from, theirs) {
        None => Ok(()),
        Some((byte, expected)) => Err(Error::Program(format!(
            "wrong data: byte {byte} of {what} at rank {me} is {:#04x} where rank {from} sent {expected:#04x}",
            found[byte]
        ))),
    }
}

/// Returns the index of the first byte that differs from block `block` of rank `rank`, and the expected byte.
fn first_wrong(found: &[u8], seed: u64, rank: usize, block: usize) -> Option<(usize, u8)> {
    // The check is made piece by piece, because a second buffer of the size of a message may not fit into memory.
    const PIECE: usize = 64 << 10;
    let contents = Contents::new(seed, rank, block);
    let mut expected = vec![0; PIECE.min(found.len())];
    for (number, piece) in found.chunks(PIECE).enumerate() {
        let expected = &mut expected[..piece.len()];
        contents.write(expected, number * PIECE / size_of::<u64>());
        if piece != expected {
            let byte = piece.iter().zip(&*expected).position(|(found, wanted)| found != wanted)?;
            return Some((number * PIECE + byte, expected[byte]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    #[test]
    fn blocks_differ_by_seed_rank_and_number_and_are_the_same_again() {
        let block = |seed, rank, number| {
            let mut bytes = [0; 13];
            fill(&mut bytes, seed, rank, number);
            bytes
        };
        assert_eq!(block(1, 2, 3), block(1, 2, 3));
        for other in [block(2, 2, 3), block(1, 3, 2), block(1, 2, 4), block(1, 3, 3)] {
            assert_ne!(block(1, 2, 3)[..2], other[..2]);
        }
    }

    #[test]
    fn long_blocks_are_checked_to_the_last_byte() {
        let mut bytes = vec![0; 200_003];
        fill(&mut bytes, SEED, 1, 2);
        assert_eq!(first_wrong(&bytes, SEED, 1, 2), None);
        for place in [0, 65_536, 131_071, 200_002] {
            bytes[place] ^= 1;
            assert_eq!(first_wrong(&bytes, SEED, 1, 2), Some((place, bytes[place] ^ 1)));
            bytes[place] ^= 1;
        }
    }
}
