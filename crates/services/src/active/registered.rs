//! The set of numbers that have a handler.

use crate::{Error, Result};

/// Number of handler numbers.
pub(super) const NUMBERS: usize = 256;

/// A set of registered numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Registered([u64; NUMBERS / 64]);

impl Registered {
    pub(super) fn insert(&mut self, handler: u8) {
        self.0[usize::from(handler) / 64] |= 1 << (handler % 64);
    }

    pub(super) fn contains(self, handler: u8) -> bool {
        self.0[usize::from(handler) / 64] >> (handler % 64) & 1 == 1
    }

    /// Refuses a number that is not registered.
    pub(super) fn check(self, handler: u8) -> Result<()> {
        if self.contains(handler) { Ok(()) } else { Err(Error::NotRegistered { handler }) }
    }

    pub(super) fn to_bytes(self) -> [u8; NUMBERS / 8] {
        let mut bytes = [0; NUMBERS / 8];
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; NUMBERS / 8]) -> Self {
        let mut words = [0; NUMBERS / 64];
        for (to, word) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *to = u64::from_le_bytes(*word);
        }
        Registered(words)
    }
}
