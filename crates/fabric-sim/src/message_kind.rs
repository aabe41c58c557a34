//! Kinds of messages: how a message is divided into packets and forwarded.

/// Purpose of a message, which determines how it is divided into packets and forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Data: packets with headers.
    Data,
    /// An RTS or a CTS, which nodes may forward faster.
    Control,
    /// A step of a machine's own collective, which every node expects: one packet of any length, without a header.
    Bare,
    /// An access to another rank's memory, or its answer: packets with headers, which no software sets up.
    Access,
}
