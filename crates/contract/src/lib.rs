//! The interface of a message-passing machine to its programs.
//!
//! A benchmark is written once against [`Rank`], with blocking calls. It runs unchanged on processes over shared memory
//! or TCP, on any MPI, and as a coroutine of a simulated machine in virtual time. Therefore the crate names no fabric,
//! reads no clock and starts no process. It contains
//!
//! * the contract itself: [`Rank`], and [`Member`], which implements it once over any [`Endpoint`];
//! * the vocabulary and the errors of the crates `endpoint` and `windows`, so that a program needs this crate only;
//! * [`collective`]: every collective as ordinary code over point-to-point calls, which a fabric may replace.
//!
//! The suite that each fabric must pass is the crate `conformance`.
// Unsafe code is in `member`, which promises the lifetime of lent memory, and in `window`, where members promise it to
// each other.
#![deny(unsafe_code)]

mod buffer;
mod context;
mod member;
mod rank;
mod requests;
mod window;

pub mod collective;

pub use buffer::Buffer;
pub use context::{Context, ContextNumbers};
pub use endpoint::*;
pub use member::{Member, Process};
pub use rank::{Completed, EAGER_BYTES, Posted, Progress, Rank, check_rank};
pub use window::{OwnMemory, RankWindow, WindowCall};
pub use windows::*;
