//! Messages that stay where their sender has them.

/// A received message that lies in its sender's memory. [`Rank::view`](crate::Rank::view) shows it,
/// [`Rank::release`](crate::Rank::release) gives it back.
#[must_use = "its sender waits until it is released"]
#[derive(Debug, PartialEq, Eq)]
pub struct InPlace(u64);

impl InPlace {
    /// Returns the handle with this number, which a fabric gives to a message in place.
    pub const fn new(number: u64) -> Self {
        InPlace(number)
    }

    /// Returns the number the fabric gave.
    pub const fn number(&self) -> u64 {
        self.0
    }
}
