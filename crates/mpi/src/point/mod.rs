//! Point-to-point messages.

mod comparison;
mod exchange;
mod partitioned;
mod probe;
mod quick;
mod receive;
mod send;

pub(crate) use comparison::explain_messages;
pub use exchange::ExchangeCall;
pub use partitioned::Partitioned;
pub use probe::{Claimed, ProbeManner, claim, probe};
pub use receive::ReceiveCall;
pub use send::{Mode, SendCall};
