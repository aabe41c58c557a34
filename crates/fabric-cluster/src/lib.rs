//! The `cluster` fabric: shared memory between the ranks of a host, TCP between hosts, chosen by the pair.
//!
//! It is composed of two fabrics that exist: of `fabric-shm` among the ranks of a host, and of `fabric-tcp` among all
//! ranks. Messages between ranks of a host never go over TCP; what concerns all ranks does: who leaves, which
//! collectives do not match, why the run ends.
//!
//! The process of each host ([`HostPart`](fabric_tcp::HostPart)) starts its ranks with [`job_of`] as their job. A rank
//! calls [`join`], a library in any program [`join_from_library`].
//!
//! The parts: `places`, which rank is where; `requests`, and receives from any rank, which both fabrics look for;
//! `parts`, the two fabrics as one value; `endpoint`, what a fabric must do; `wait`; `join`.

#![deny(unsafe_code)]

mod contexts;
mod ending;
mod endpoint;
mod join;
mod messages;
mod parts;
mod places;
mod requests;
mod wait;

pub use join::{ClusterProcess, Joined, is_job, job_of, join, join_from_library};
pub use parts::ClusterEndpoint;
