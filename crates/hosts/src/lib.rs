//! What ranks on one or several hosts determine about each other: which of them share a host, whether each has a
//! processor for itself, and a clock that all share.
//!
//! It only needs messages, so every fabric across hosts uses it: first [`discover_placement`], then [`shared_clock`].
#![forbid(unsafe_code)]

mod clock;
mod placement;
mod processors;

pub use clock::{Clock, LocalClock, Skew, domain, shared_clock};
pub use placement::{Placement, discover_placement};
pub use processors::Processors;
