//! The end of a simulated machine inside the process of a rank.
//!
//! Each call of a [`ProxyEndpoint`] is a request, by a line through shared memory, to the simulated machine in the
//! launcher: the crate `fabric-sim` has that end. A process runs only while its rank on the machine waits for its next
//! request. Virtual time passes by its computing time.
//!
//! The modules, each of which uses only those before it:
//! * `stopwatch`: the computing time of a thread;
//! * [`wire`]: what both ends share: memory, turns, requests and replies;
//! * `library`: the part of the computing time in the message-passing library;
//! * `quiet`: polls that need no request;
//! * `caller`, `clock`, `endpoint`, `join`: requests, virtual time for the program, and the endpoint.

mod caller;
mod clock;
mod endpoint;
mod join;
mod library;
mod quiet;
mod stopwatch;

pub mod wire;

pub use endpoint::ProxyEndpoint;
pub use join::{join, join_line};
