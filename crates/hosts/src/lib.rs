//! What ranks that may be on several hosts find out of one another: which of them share a host, whether each can have a
//! processor for itself, and a time that all share.
//!
//! It needs nothing but messages, so every fabric that crosses hosts uses it: [`settle`] once at the beginning, then
//! [`shared_clock`].
#![forbid(unsafe_code)]

mod clock;
mod processors;
mod settle;

pub use clock::{Clock, LocalClock, Skew, domain, shared_clock};
pub use processors::Processors;
pub use settle::{Settled, settle};
