//! The launcher: starts the processes of a run on this host, supervises them, and gives each a seat.
//!
//! A program calls [`Seat::take`] first of all. In the process that the user started it returns nothing. The program
//! then calls [`launch`], which starts the same program again once for each rank and waits for them. In those processes
//! [`Seat::take`] returns the rank's [`Seat`]. A fabric carries the rank's messages, and uses nothing else of the
//! launcher.
//!
//! The parts, from the lowest up, each of which knows only those before it:
//! * `system`, `primitive`: calls to Linux, and the atomics that loom replaces;
//! * `clock`: the time that all ranks share;
//! * `crowding`: whether other programs use the processors;
//! * `backoff`, `sleep`: how a rank spins, yields and sleeps, and how it is woken;
//! * `arena`: memory that one rank allocates and all can read and write;
//! * `layout`, `page`, `memory`: the shared memory of a run, and what the launcher and the ranks keep in it;
//! * `callers`: where in the program a call came from;
//! * `seat`: what a rank has of all this;
//! * `launch`: processes, their binding, their reports, their deaths and their standstill.

// Under loom all is built but what starts processes and what runs in them.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

mod arena;
mod backoff;
mod callers;
mod clock;
pub mod crowding;
#[cfg(not(loom))]
mod launch;
mod layout;
mod memory;
mod page;
pub mod primitive;
mod seat;
mod sleep;
pub mod system;

pub use arena::SharedAllocator;
pub use backoff::{Backoff, BackoffStep, LONGEST_SLEEP, is_liveness_check_due};
pub use clock::RunClock;
#[cfg(not(loom))]
pub use launch::{
    ACTIVITIES, Activity, Amounts, Binding, CallSite, HANG, HangSearch, Input, LaunchError,
    LaunchOptions, NextStep, OnHang, OtherProgram, RankActivity, Streams, ThreadWait, WaitLine,
    Watch, WholeRun, Word, launch, launch_and_read, standstill_in_words,
};
pub use layout::{MAXIMUM_RANKS, Room, fingerprint};
pub use page::{Choices, PollState, RankProcessors, State};
pub use seat::{Reporter, Seat, wait_for_cause};
