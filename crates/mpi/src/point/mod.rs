//! Point-to-point messages.

mod exchange;
mod partitioned;
mod probe;
mod quick;
mod receive;
mod send;

pub use exchange::ExchangeCall;
pub use partitioned::Partitioned;
pub use probe::{Claimed, ProbeManner, claim, probe};
pub use receive::ReceiveCall;
pub use send::{Mode, SendCall};
