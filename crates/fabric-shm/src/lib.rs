//! The `local` fabric: ranks as processes that pass messages through one shared memory segment.
//!
//! A program calls [`join_if_rank`] first of all. In the process that the user started it returns nothing. The
//! program then calls [`launch`], which starts the same program again once for each rank and waits for them. In those
//! processes [`join_if_rank`] returns a [`ShmProcess`], whose [`world`](ShmProcess::world) is a [`contract::Rank`].
//!
//! The parts, from the lowest up, each of which knows only those before it:
//! * `system`, `primitive`: calls to Linux, and the atomics that loom replaces;
//! * `clock`: the time that all ranks share;
//! * `crowding`: whether other programs use the processors;
//! * `wait`: how a rank spins, yields and sleeps, and how it is woken;
//! * `arena`: memory that one rank allocates and all can read and write;
//! * `ring`: one sender's way to one receiver, cache-line cells with credits;
//! * `board`: what a rank shows to all others in a collective;
//! * `segment`: the memory itself, and where each thing lies in it (`docs/shared-memory.md` draws it);
//! * `callers`: where in the program a call came from;
//! * `launcher`: processes, their binding, their reports, their deaths and their standstill;
//! * `engine`: requests, matching and the protocols, on raw pointers and context numbers, below any interface;
//! * `team`: collectives over the boards of a context's ranks;
//! * `endpoint`: the contract's [`Endpoint`](contract::Endpoint) over the engine and the teams.

// Under loom all is built but what starts processes and what runs in them.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

mod arena;
mod board;
mod callers;
mod clock;
mod crowding;
#[cfg(not(loom))]
mod endpoint;
mod engine;
#[cfg(not(loom))]
mod launcher;
mod primitive;
mod ring;
mod segment;
mod system;
mod team;
mod wait;

pub use arena::SharedAllocator;
#[cfg(not(loom))]
pub use endpoint::{Reporter, ShmEndpoint, ShmProcess, join_if_rank};
#[cfg(not(loom))]
pub use launcher::{
    ACTIVITIES, Activity, Amounts, Binding, CallSite, HANG, HangSearch, LaunchError, LaunchOptions,
    NextStep, OnHang, OtherProgram, RankActivity, Streams, ThreadWait, WaitLine, Watch, WholeRun,
    Word, launch, launch_and_read, standstill_in_words,
};
pub use segment::{MAXIMUM_RANKS, PollState};
pub use system::{
    allowed_processors, close_on_exec, futex_wait, futex_wake, map_shared, memory_file,
};
