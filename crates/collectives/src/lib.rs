//! Collective algorithms, each implemented once.
//!
//! A collective over messages is a [`Schedule`]: rounds of messages, copies and combinations, built by an [`algorithm`]
//! for one member. A schedule is independent of the transport and of memory addresses. The crate `contract` carries it
//! out in blocking calls, the crate `mpi` step by step while a program continues. [`Call`] describes the collective
//! call, and [`select`] chooses the [`Algorithm`].
//!
//! Collectives of ranks that share memory use a [`plan`] instead: the members that combine data, the memory that
//! carries it, and the pieces into which it is divided. The thresholds of both choices are in one [table](THRESHOLDS).
#![forbid(unsafe_code)]

pub mod algorithm;
mod blocks;
mod call;
mod call_id;
mod collective;
mod host_map;
mod latest;
mod membership;
pub mod plan;
mod schedule;
mod select;
mod thresholds;

pub use algorithm::Own;
pub use algorithm::between::{RootBetween, TwoGroups};
pub use blocks::Blocks;
pub use call::Call;
pub use call_id::{AgreedCall, CallId, Form, LibraryCall, ReductionId};
pub use collective::{Algorithm, Collective};
pub use host_map::HostMap;
pub use latest::LatestSchedules;
pub use membership::{Membership, Order};
pub use schedule::{Area, Cursor, LocalStep, Message, Part, Round, Schedule};
pub use select::{Manner, select};
pub use thresholds::{THRESHOLDS, Thresholds};

#[cfg(test)]
mod tests;
