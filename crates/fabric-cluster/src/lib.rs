//! The `cluster` fabric: shared memory between the ranks of a host, TCP or libfabric between hosts, chosen by the pair.
//!
//! It is a table of routes under one message engine: the rings of `fabric-shm` lead to the ranks of this host, the
//! connections of `fabric-tcp` or the provider of `fabric-ofi` to all others. Everything that concerns all ranks goes
//! between hosts: leaving, mismatched collectives, the end of the run.
//!
//! The process of each host ([`HostPart`](fabric_tcp::HostPart)) starts its ranks with [`job_of`] as their job. A rank
//! calls [`join`], a library in any program [`join_from_library`].
//!
//! The parts, from the lowest up: `places`, the hosts of ranks; `contexts`; `outer`, the transport between hosts;
//! `routes`; `endpoint`, the implementation of the contract; `join`.

// The exception is `endpoint`, which promises how long the memory of a request is used.
#![deny(unsafe_code)]

mod contexts;
mod endpoint;
mod join;
mod outer;
mod places;
mod routes;

pub use endpoint::ClusterEndpoint;
pub use join::{is_job, job_of, join, join_from_library};
pub use outer::OuterFabric;
