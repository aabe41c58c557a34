//! The interface of a message-passing machine to its programs.
//!
//! A benchmark is written once against [`Rank`], with blocking calls. It runs unchanged on processes over shared memory
//! or TCP, on any MPI, and as a coroutine of a simulated machine in virtual time. Therefore the crate names no fabric,
//! reads no clock and starts no process. It contains
//!
//! * the contract itself: [`Rank`], its vocabulary ([`Tag`], [`Source`], [`Time`], [`Buffer`] ...) and its errors;
//! * [`collective`]: every collective as ordinary code over point-to-point calls, which a fabric may replace.
//!
//! The suite that each fabric must pass is the crate `conformance`.
// Unsafe code is in `memory`, where programs promise the lifetime of memory, in `member`, which makes that promise, and
// in `window`, where members promise it to each other.
#![deny(unsafe_code)]

mod awaited;
mod buffer;
mod context;
mod description;
mod endless;
mod endpoint;
mod error;
mod in_place;
mod isolation;
mod member;
mod memory;
mod message;
mod operating_system;
mod priority;
mod rank;
mod real_clock;
mod reduction;
mod requests;
mod shared_line;
mod time;
mod window;
mod work;

pub mod collective;

pub use awaited::{
    AWAITED_MAX, Awaited, LockHolder, WaitTerms, describe_unexpected, name_ranks, with_article,
};
pub use buffer::Buffer;
pub use collectives::{AgreedCall, CallId, ReductionId};
pub use context::{Context, ContextNumbers};
pub use description::{FabricDescription, SharedMemory};
pub use endpoint::other_runs::{
    BETWEEN_RUNS, MEETING_CONTEXT, OpenedBetweenRuns, OtherRuns, ProcessName,
};
pub use endpoint::{
    AccessKind, Agent, AgentAnswer, Apply, AtomicElement, AtomicElements, AtomicOperation,
    CollectiveCall, Combine, Completion, ContextOffer, ContextPlace, Destination, Endpoint,
    Envelope, LongWaits, NewContext, OneSided, OneSidedOperation, OtherEnds, REPORT_INTERVAL,
    RememberedCall, RemoteAccess, RemoteAddress, RemoteMemory, RemotePlace, Request, Selector,
    StartedCollective, WaitPlace, WaitReports, end_together, receive_in_turn, receive_together,
};
pub use error::{Error, Result};
pub use in_place::InPlace;
pub use isolation::Isolation;
pub use member::{Member, Process};
pub use memory::{Readable, Writable};
pub use message::{Source, Status, Tag, TagSelector};
pub use operating_system::{OperatingSystem, SleepCall, TracedNoise};
pub use priority::{Priority, PriorityGranted};
pub use rank::{Completed, EAGER_BYTES, Posted, Progress, Rank, check_rank};
pub use real_clock::{smallest_step, wait_until};
pub use reduction::{Element, Operation, Reduction};
pub use shared_line::SharedLine;
pub use time::{ClockQuality, Time, TimeSpan};
pub use window::{
    Action, Arithmetic, DYNAMIC_BYTES, LONG_COPY_BYTES, LockAttempt, NOTICES, OwnMemory,
    RankWindow, Stretch, Ticket, Update, WINDOW_ANSWERS, Window, WindowCall, WindowOffer,
    WindowPart, copy_past_caches,
};
pub use work::{Work, WorkKind};
