//! Simulated machines as a fabric: the same programs as on a real machine, in virtual time and repeatable.
//!
//! Rank programs are stackful coroutines in one thread. A call that takes time or must wait suspends its rank, and the
//! [`agenda`] decides which rank continues when. Time is integer picoseconds, and nothing depends on the host: the same
//! machine, seed and program give the same event hash everywhere.
//!
//! Messages are simulated at one of two levels (L1, L2). [`unloaded`] is the oracle for both (L0): a message that meets
//! no other takes exactly the same time at all three.
//!
//! * [`array`] is a separate simulator: the Finite Element Machine word by word.
//! * A [`Machine`] contains all costs. [`machine::parse`] reads one from a file, [`machine::find`] returns a built-in
//!   one.
//! * [`run`] runs a program on it; [`run_endpoints`] gives a program the endpoint itself; [`run_processes`] lets
//!   [`Processes`] be the ranks, each of which calls the endpoint of its rank from outside.
// Unsafe code is the promise of `endpoint/fabric.rs` that it keeps the rules of `contract::Endpoint`, and that of `server`
// that the memory which it lends to endpoints lasts.
#![deny(unsafe_code)]

mod agenda;
pub mod array;
mod board;
mod endpoint;
mod event_hash;
mod message_kind;
mod network;
mod path;
mod processes;
mod queue;
mod random;
mod ring;
mod run;
mod server;
mod world;

pub mod machine;
pub mod quantity;
pub mod sci;
pub mod topology;
pub mod trace;
pub mod unloaded;

pub use endpoint::SimEndpoint;
pub use machine::{Level, Machine, RANKS_MAX};
pub use message_kind::MessageKind;
pub use network::ChannelUse;
pub use path::CriticalPath;
pub use processes::{Computing, Processes, RankAccount};
pub use run::{Failure, Options, Outcome, Watched, check, run, run_endpoints, run_watched};
pub use server::run_processes;
pub use world::Counts;

#[cfg(test)]
mod tests;
