//! The state of a partner on one medium.

use crate::ReceiveMode;

/// Buffers that are under way to an asynchronous receiver, or have come and were not looked at. A later one waits at
/// the sender, and a still later one takes its place.
pub const LATEST_UNDER_WAY: u32 = 4;

/// Towards the partner.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The partner's receive mode for our buffers; `None` if it expects none.
    pub(super) mode: Option<ReceiveMode>,
    /// Buffers that SEND was called with. The number of the next one.
    pub(super) called: u32,
    /// Messages that have left. Fewer, for some were replaced before they left.
    pub(super) left: u32,
    /// Of those, how many the partner has looked at, as far as we know. Only asynchronous ones are told.
    pub(super) seen: u32,
    /// Messages that said so.
    pub(super) notices: u32,
    /// The latest buffer, as it travels, while it waits for its turn.
    pub(super) held_back: Option<Vec<u8>>,
}

/// From the partner.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// This rank's receive mode for its buffers; `None` if it expects none.
    pub(super) mode: Option<ReceiveMode>,
    /// Messages that have come.
    pub(super) came: u32,
    /// Messages that reported this number to the partner.
    pub(super) notices: u32,
    /// Asynchronous: the latest complete buffer and its number.
    pub(super) latest: Option<(u32, Vec<u16>)>,
    /// Its memory before it was the latest.
    pub(super) spare: Vec<u16>,
    /// Whether the latest buffer has been read.
    pub(super) was_read: bool,
}

impl Outgoing {
    /// Whether a buffer may leave now.
    pub(super) fn may_leave(&self) -> bool {
        self.mode != Some(ReceiveMode::Asynchronous)
            || self.left.wrapping_sub(self.seen) < LATEST_UNDER_WAY
    }
}
