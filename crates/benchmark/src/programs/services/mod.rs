//! Services over the fabric, beside its own messages.

pub(in crate::programs) mod active_messages;
pub(in crate::programs) mod active_stream;
pub(in crate::programs) mod hcs;
mod partner;
pub(in crate::programs) mod ring_protocol;
pub(in crate::programs) mod send_and_receive;
pub(in crate::programs) mod tuple_space;
