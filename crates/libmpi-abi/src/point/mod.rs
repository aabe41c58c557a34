//! Point-to-point messages.

mod buffered;
mod probe;
mod quick;
mod transfer;

pub(crate) use buffered::*;
pub(crate) use probe::*;
pub(crate) use transfer::*;
