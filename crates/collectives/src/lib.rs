//! Collectives, each algorithm once.
//!
//! A collective by messages is a [`Schedule`]: rounds of messages, copies and combinations, which [`algorithm`] makes for one
//! member, and which says nothing of how messages travel or where memory lies. Whoever has messages carries it out: the
//! crate `contract` in blocking calls, the crate `mpi` step by step while a program goes on. [`Call`] names what is asked
//! for, [`select`] chooses the [`Algorithm`], with every threshold in one place.
//!
//! Where ranks share memory a collective goes by a [`plan`] instead: who combines what, over which memory, in which pieces.
#![forbid(unsafe_code)]

pub mod algorithm;
mod blocks;
mod call;
mod host_map;
mod membership;
pub mod plan;
mod schedule;
mod select;

pub use algorithm::Own;
pub use algorithm::between::{RootBetween, TwoGroups};
pub use blocks::Blocks;
pub use call::{Algorithm, Call, Collective};
pub use host_map::HostMap;
pub use membership::{Membership, Order};
pub use schedule::{Area, Cursor, LocalStep, Message, Part, Round, Schedule};
pub use select::{Manner, select};

#[cfg(test)]
mod tests;
