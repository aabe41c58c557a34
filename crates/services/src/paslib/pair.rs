//! The state of a partner on one medium.

use crate::ReceiveMode;

/// Maximum number of buffers that are under way to an asynchronous receiver, or have arrived and were not received. A
/// later one waits at the sender, and a still later one replaces it.
pub const LATEST_UNDER_WAY: u32 = 4;

/// The state of sending to the partner.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// The partner's receive mode for our buffers; `None` if it expects none.
    pub(super) mode: Option<ReceiveMode>,
    /// Number of SENDs so far, which is the number of the next buffer.
    pub(super) called: u32,
    /// Number of messages that were sent. It is smaller than `called` if buffers were replaced before they were sent.
    pub(super) sent: u32,
    /// Number of these that the partner has received, according to its last notice. Only asynchronous receivers send
    /// notices.
    pub(super) acknowledged: u32,
    /// Number of received notices.
    pub(super) notices: u32,
    /// The latest buffer, as a message, while it waits to be sent.
    pub(super) waiting: Option<Vec<u8>>,
}

/// The state of receiving from the partner.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// This rank's receive mode for its buffers; `None` if it expects none.
    pub(super) mode: Option<ReceiveMode>,
    /// Number of messages that have been received.
    pub(super) received: u32,
    /// Number of notices that reported this number to the partner.
    pub(super) notices: u32,
    /// The latest complete buffer and its number, in asynchronous mode.
    pub(super) latest: Option<(u32, Vec<u16>)>,
    /// Memory for the next latest buffer.
    pub(super) spare: Vec<u16>,
    /// True if the latest buffer has been read.
    pub(super) was_read: bool,
}

impl Outgoing {
    /// Returns whether a buffer may be sent now.
    pub(super) fn may_send(&self) -> bool {
        self.mode != Some(ReceiveMode::Asynchronous)
            || self.sent.wrapping_sub(self.acknowledged) < LATEST_UNDER_WAY
    }
}
