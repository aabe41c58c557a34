//! The `cluster` fabric: shared memory between the ranks of a host, TCP or libfabric between hosts, chosen by the pair.
//!
//! It is composed of two fabrics: the *inner* one, `fabric-shm`, among the ranks of a host, and the *outer* one,
//! `fabric-tcp` or `fabric-ofi`, among all ranks. Messages between ranks of a host never use the outer fabric;
//! everything that concerns all ranks does: leaving, mismatched collectives, the end of the run.
//!
//! The process of each host ([`HostPart`](fabric_tcp::HostPart)) starts its ranks with [`job_of`] as their job. A rank
//! calls [`join`], a library in any program [`join_from_library`].
//!
//! The parts, from the lowest up: `requests`, with receives from any rank, which are posted to both fabrics; `places`,
//! the hosts of ranks; `contexts`; `parts`, the two fabrics as one value; `wait`, `messages`, `opening` and `ending`,
//! its operations; `endpoint`, the implementation of the contract; `join`.

// The exceptions are `parts`, for one value that represents another, and `endpoint`, which promises how long the memory
// of a request is used.
#![deny(unsafe_code)]

mod contexts;
mod ending;
mod endpoint;
mod join;
mod messages;
mod opening;
mod outer;
mod parts;
mod places;
mod requests;
mod wait;

pub use join::{is_job, job_of, join, join_from_library};
pub use outer::OuterFabric;
pub use parts::ClusterEndpoint;
