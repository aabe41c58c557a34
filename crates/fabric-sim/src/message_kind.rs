//! How a message is cut into packets and passed on.

/// What a message is for, which decides how it is cut into packets and passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Data: packets with headers.
    Data,
    /// An RTS or a CTS, which nodes may pass on faster.
    Control,
    /// A step of a machine's own collective, which every node expects: one packet of any length, without a header.
    Bare,
    /// An access to another rank's memory, or its answer: packets with headers, which no software sets up.
    Access,
}
