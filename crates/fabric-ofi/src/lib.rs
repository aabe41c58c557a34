//! The `ofi` fabric: messages over libfabric, which has a provider for each kind of network (InfiniBand, EFA,
//! Slingshot, sockets, shared memory).
//!
//! The library is opened when a rank joins. Building this crate needs neither the library nor its headers. `fabric-tcp`
//! starts the ranks, exchanges their addresses, supervises them and ends the run; its connections carry no message of
//! the program.
//!
//! A message of up to 4 KiB is one tagged message of libfabric, for which the message engine finds the receive. A longer
//! message is divided into an RTS and the data, which have their own tag and are copied only by the provider.
//!
//! Windows are registered with the provider, which writes, reads and updates the memory of other ranks, if it has such
//! operations.
//!
//! The modules, from the lowest up: `ffi` has the structures and functions of libfabric; `library` and `provider`
//! choose the provider; `objects` opens it; `tags` and `slots` are the state of messages; `transport` moves
//! messages; `endpoint` implements the contract; `join` joins the run.

mod endpoint;
mod ffi;
mod join;
mod library;
mod objects;
mod provider;
mod slots;
mod tags;
mod transport;

pub use endpoint::OfiEndpoint;
pub use join::{host_job, job, join, join_from_library};
pub use provider::check;
pub use transport::Libfabric;
