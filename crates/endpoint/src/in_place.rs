//! Messages that stay in their sender's memory.

/// A received message in its sender's memory. `Rank::view` reads it, and `Rank::release`
/// returns the memory to the sender.
#[must_use = "its sender waits until it is released"]
#[derive(Debug, PartialEq, Eq)]
pub struct InPlace(u64);

impl InPlace {
    /// Creates the handle with this number, which a fabric assigns to an in-place message.
    pub const fn new(number: u64) -> Self {
        InPlace(number)
    }

    /// Returns the number that the fabric assigned.
    pub const fn number(&self) -> u64 {
        self.0
    }
}
