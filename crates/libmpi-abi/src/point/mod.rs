//! Point-to-point messages.

mod buffered;
mod exchange;
mod peer;
mod probe;
mod quick;
mod transfer;

pub(crate) use buffered::*;
pub(crate) use exchange::*;
pub(crate) use peer::{check_tag, destination, memory};
pub(crate) use probe::*;
pub(crate) use transfer::*;
