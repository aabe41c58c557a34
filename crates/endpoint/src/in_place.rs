//! Messages that stay in their sender's memory.
#![allow(unsafe_code)]

use std::ptr::NonNull;

/// A received message in its sender's memory. `Rank::view` reads it, and `Rank::release`
/// returns the memory to the sender.
#[must_use = "its sender waits until it is released"]
#[derive(Debug, PartialEq, Eq)]
pub struct InPlace {
    number: usize,
    memory: NonNull<u8>,
    bytes: usize,
}

impl InPlace {
    /// Creates the handle with this number, which a fabric assigns, of the message of `bytes` bytes at `memory`.
    ///
    /// # Safety
    /// The bytes are initialised, and unchanged until the handle is given back or dropped.
    pub const unsafe fn new(number: usize, memory: NonNull<u8>, bytes: usize) -> Self {
        InPlace { number, memory, bytes }
    }

    /// Returns the number that the fabric assigned.
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Returns the message.
    pub const fn bytes(&self) -> &[u8] {
        // SAFETY: the promise of `new`.
        unsafe { NonNull::slice_from_raw_parts(self.memory, self.bytes).as_ref() }
    }
}
