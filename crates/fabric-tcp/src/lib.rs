//! The `tcp` fabric: ranks as processes, on one host or on several, each pair with a TCP connection of its own.
//!
//! * On one host the launcher of `fabric-shm` starts and watches the ranks; a rank calls [`local::join`] with the
//!   [`ShmProcess`](fabric_shm::ShmProcess) that it has become.
//! * On several hosts [`start`] starts the ranks by an agent such as `ssh`, and watches them through a connection each; a
//!   rank calls [`remote::join`].
//!
//! Both ends of every connection prove that they know the run's [`Secret`] before anything else is said; messages are not
//! encrypted. A rank listens at one address of its own, and only until it is connected with all others.
//!
//! The parts, from the wire up: `secret` and `handshake`; `frame`, what ranks say; `engine`, matching, protocols and waiting;
//! `rank`, the contract over it; `mesh`, `control` and `supervision`, how ranks meet and how the end of one becomes known.
#![forbid(unsafe_code)]

mod control;
mod engine;
mod frame;
mod handshake;
mod hosts_file;
pub mod local;
mod mesh;
mod rank;
pub mod remote;
mod reporter;
mod secret;
mod start;
mod supervision;

pub use hosts_file::{Host, places};
pub use rank::TcpRank;
pub use reporter::Reporter;
pub use secret::Secret;
pub use start::{RANKS_MAX, StartOptions, start};
