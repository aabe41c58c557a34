//! The `local` fabric: ranks as processes that pass messages through one shared memory segment.
//!
//! A program calls [`join_if_rank`] first of all. In the process that the user started it returns nothing. The
//! program then calls [`launch`](launcher::launch) with [`launch_options`], which starts the same program again once for
//! each rank and waits for them. In those processes [`join_if_rank`] returns a [`ShmProcess`], whose
//! [`world`](ShmProcess::world) is a [`contract::Rank`].
//!
//! The parts, from the lowest up, each of which knows only those before it:
//! * `primitive`: the atomics that loom replaces;
//! * `ring`: one sender's way to one receiver, cache-line cells with credits;
//! * `board`: what a rank shows to all others in a collective;
//! * `segment`: the memory itself, and where each thing lies in it (`docs/shared-memory.md` draws it);
//! * `engine`: requests, matching and the protocols, on raw pointers and context numbers, below any interface;
//! * `team`: collectives over the boards of a context's ranks;
//! * `collectives`: the collectives of contexts, over boards and announced;
//! * `endpoint`: the contract's [`Endpoint`](contract::Endpoint) over the engine and the teams.

// Under loom all is built but what starts processes and what runs in them.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

mod board;
mod collectives;
#[cfg(not(loom))]
mod endpoint;
mod primitive;
mod ring;
mod segment;
mod team;
mod transport;

pub use collectives::{HostCollectives, Owner, Purpose};
#[cfg(not(loom))]
pub use endpoint::{ShmEndpoint, ShmProcess, join_if_rank, launch_options};
pub use segment::room;
pub use transport::Rings;
