//! The `cluster` fabric: shared memory between the ranks of a host, TCP between hosts, chosen by the pair.
//!
//! It is composed of two fabrics that exist: of `fabric-shm` among the ranks of a host, and of `fabric-tcp` among all
//! ranks. Messages between ranks of a host never go over TCP; what concerns all ranks does: who leaves, which
//! collectives do not match, why the run ends.
//!
//! The process of each host ([`HostPart`](fabric_tcp::HostPart)) starts its ranks with [`job_of`] as their job. A rank
//! calls [`join`], a library in any program [`join_from_library`].
//!
//! The parts, from the lowest up: `requests`, and receives from any rank, which both fabrics look for; `places`, which
//! rank is where; `contexts`; `parts`, the two fabrics as one value; `wait`, `messages`, `opening` and `ending`, what it
//! does; `endpoint`, what a fabric must do; `join`.

// The exceptions are `parts`, for one value that stands for another, and `endpoint`, which promises how long the memory
// of a request is used.
#![deny(unsafe_code)]

mod contexts;
mod ending;
mod endpoint;
mod join;
mod messages;
mod opening;
mod parts;
mod places;
mod requests;
mod wait;

pub use join::{ClusterProcess, Joined, is_job, job_of, join, join_from_library};
pub use parts::ClusterEndpoint;
