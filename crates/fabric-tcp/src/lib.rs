//! The `tcp` fabric: ranks as processes, on one host or on several, each pair with a TCP connection of its own.
//!
//! * On one host the launcher starts and supervises the ranks. A rank calls [`local::join`] with its
//!   [`Seat`](launcher::Seat); a library in any program calls [`library::join_from_library`].
//! * On several hosts [`start`] starts the ranks by an agent such as `ssh`, and supervises them through a connection
//!   each. A rank calls [`remote::join`].
//!
//! Both ends of every connection prove that they know the run's [`Secret`] before anything else is sent; messages are
//! not encrypted. A rank listens at one address of its own, and only until it is connected with all others.
//!
//! The parts, from the connection up: `secret` and `handshake`; `link` and `reconnect`, connections that may break;
//! `frame`, the format of messages; `transport`, protocols and polls; `endpoint`, the implementation of the
//! contract; `mesh`, `control` and `supervision`, how ranks connect and learn of each other's end; `other_processes`,
//! those of other runs.
// The one exception is `interface::listed`.
#![deny(unsafe_code)]

mod activities;
mod batch_system;
mod control;
mod endpoint;
mod frame;
mod handshake;
mod host;
mod host_watch;
mod hosts_file;
mod interface;
pub mod library;
mod link;
mod liveness;
pub mod local;
mod mesh;
mod other_processes;
mod process;
mod reconnect;
pub mod remote;
mod reporter;
mod secret;
mod socket;
mod start;
mod supervision;
mod transport;

pub use batch_system::{OfThisProcess, Surroundings, hosts_of_job};
pub use endpoint::TcpEndpoint;
pub use host::{HostPart, RankOfHost};
pub use host_watch::HostWatch;
pub use hosts_file::{Host, places};
pub use interface::Interface;
pub use other_processes::OtherProcesses;
pub use process::TcpProcess;
pub use reporter::Reporter;
pub use secret::Secret;
pub use start::{RANKS_MAX, REACH_LIMIT, StartOptions, Starting, UserSignal, for_shell, start};
pub use transport::Connections;
