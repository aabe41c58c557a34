//! Times of single messages between two ranks.

pub(in crate::programs) mod exchange;
pub(in crate::programs) mod latency;
pub(in crate::programs) mod ping_pong;
pub(in crate::programs) mod send_and_reply;
pub(in crate::programs) mod simple_transfer;
