//! Known contents, and checks that report what they expected and found.

use std::fmt::Debug;

use contract::{Completed, Error, Posted, Progress, Rank, Result, Status, Tag};

/// Mixes words into one pseudo-random word, with a step of SplitMix64 for each.
pub(super) fn mix(words: &[u64]) -> u64 {
    words.iter().fold(random::STEP, |state, word| random::mix(state ^ word))
}

/// Fills `buffer` with contents that depend on the key and on the position.
pub(super) fn fill(buffer: &mut [u8], key: u64) {
    let (words, rest) = buffer.as_chunks_mut::<8>();
    rest.copy_from_slice(&word(key, words.len())[..rest.len()]);
    for (index, place) in words.iter_mut().enumerate() {
        *place = word(key, index);
    }
}

fn word(key: u64, index: usize) -> [u8; 8] {
    let place = index as u64;
    (key ^ place).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_right(place as u32 % 64).to_le_bytes()
}

/// Returns such contents as a vector.
pub(super) fn contents(key: u64, bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    fill(&mut buffer, key);
    buffer
}

/// Fails unless `found` holds the contents of `key`. Names the first byte that differs.
pub(super) fn expect_contents(what: &str, key: u64, found: &[u8]) -> Result<()> {
    // Word by word: this dominates the time of the suite on simulated machines.
    let (words, rest) = found.as_chunks::<8>();
    let wrong = words.iter().enumerate().position(|(index, found)| *found != word(key, index));
    if wrong.is_none() && *rest == word(key, words.len())[..rest.len()] {
        return Ok(());
    }
    for (index, chunk) in found.chunks(8).enumerate().skip(wrong.unwrap_or(words.len())) {
        let expected = word(key, index);
        if let Some(place) = chunk.iter().zip(&expected).position(|(a, b)| a != b) {
            return Err(Error::Program(format!(
                "{what}, {} bytes: byte {} is {:#04x} where {:#04x} is expected",
                found.len(),
                index * 8 + place,
                chunk[place],
                expected[place]
            )));
        }
    }
    Ok(())
}

/// Fails unless both are equal.
pub(super) fn expect<T: PartialEq + Debug>(what: &str, expected: T, found: T) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        fail(format!("{what}: {found:?} where {expected:?} is expected"))
    }
}

/// Fails unless `condition`.
pub(super) fn ensure(condition: bool, what: impl FnOnce() -> String) -> Result<()> {
    if condition { Ok(()) } else { fail(what()) }
}

pub(super) fn fail<T>(words: String) -> Result<T> {
    Err(Error::Program(words))
}

/// Fails unless the status describes a message of `bytes` bytes with `tag` from `source`.
pub(super) fn expect_status(
    what: &str,
    (source, tag, bytes): (usize, Tag, usize),
    found: Status,
) -> Result<()> {
    expect(what, Status { source, tag, bytes }, found)
}

/// Returns whether an error only follows from that of another rank, or from its end.
pub(super) fn is_after_another(error: &Error) -> bool {
    error.is_by_another() || matches!(error, Error::RankEnded { .. })
}

/// Fails unless `result` is an error that `is_right` accepts. Returns other errors that end the run unchanged.
pub(super) fn expect_error<T: Debug>(
    what: &str,
    result: Result<T>,
    is_right: fn(&Error) -> bool,
) -> Result<()> {
    match result {
        Err(error) if is_right(&error) => Ok(()),
        Err(error) if is_after_another(&error) => Err(error),
        Err(error) => fail(format!("{what}: the wrong error: {error}")),
        Ok(value) => fail(format!("{what}: {value:?} where an error is expected")),
    }
}

/// Tests until the operation has ended.
pub(super) fn test_until_done(machine: &mut dyn Rank, mut posted: Posted) -> Result<Completed> {
    loop {
        match machine.test(posted)? {
            Progress::Done(completed) => return Ok(completed),
            Progress::Pending(same) => posted = same,
        }
    }
}

/// Returns the roots to test: all if there are few ranks, otherwise some.
pub(super) fn roots(size: usize) -> Vec<usize> {
    if size <= 16 { (0..size).collect() } else { vec![0, 1, size / 2 + 1, size - 1] }
}
