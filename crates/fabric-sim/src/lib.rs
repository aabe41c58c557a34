//! Simulated machines as a fabric: the same programs as on a real machine, in virtual time, and the same every time.
//!
//! Rank programs are stackful coroutines in one thread. A call that takes time, or has to wait, suspends its rank; the
//! [`agenda`] says who goes on when. Time is integer picoseconds, and nothing depends on the host: the same machine, seed and
//! program give the same event hash everywhere.
//!
//! Messages are simulated at one of two levels (L1, L2), for which [`unloaded`] is the oracle (L0): a message that meets
//! no other takes exactly the same time at all three.
//!
//! * A [`Machine`] says what everything costs; [`machine::parse`] reads one from a file, [`machine::find`] knows those
//!   built in.
//! * [`run`] runs a program on it.
#![forbid(unsafe_code)]

mod agenda;
mod board;
mod fingerprint;
mod network;
mod queue;
mod random;
mod rank;
mod ring;
mod run;
mod world;

pub mod machine;
pub mod quantity;
pub mod topology;
pub mod trace;
pub mod unloaded;

pub use machine::{Level, Machine};
pub use network::{ChannelUse, Kind};
pub use run::{Failure, Options, Outcome, RANKS_MAX, Watched, run, run_watched};
pub use world::Counts;

#[cfg(test)]
mod tests;
