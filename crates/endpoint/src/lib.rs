//! The requirements on a fabric: [`Endpoint`], its vocabulary ([`Tag`], [`Source`], [`Time`], [`Readable`] ...) and its
//! errors.
//!
//! Below it are fabrics, which manage memory, processes, networks and virtual time. Therefore the crate names no fabric,
//! reads no clock and starts no process. Above it are windows (crate `windows`), and two faces, each written once: the
//! safe blocking interface of benchmarks (crate `contract`) and MPI (crate `mpi`).
// Unsafe code is in `memory` and `in_place`, where programs and fabrics promise the lifetime of memory, and in `endpoint`,
// where it is lent.
#![deny(unsafe_code)]

mod awaited;
mod description;
mod endless;
mod endpoint;
mod error;
mod in_place;
mod isolation;
mod memory;
mod message;
mod operating_system;
mod priority;
mod real_clock;
mod reduction;
mod shared_line;
mod time;
mod untrusted;
mod work;

pub use awaited::{
    AWAITED_MAX, Awaited, LockHolder, WaitTerms, describe_unexpected, name_ranks, with_article,
};
pub use collectives::{AgreedCall, CallId, ReductionId};
pub use description::{FabricDescription, SharedMemory};
pub use endpoint::{
    AccessKind, Agent, AgentAnswer, Agents, Apply, Arenas, AtomicElement, AtomicElements,
    AtomicOperation, BETWEEN_RUNS, Boards, Claim, CollectiveCall, Combine, Completion, Computer,
    ComputerServices, ContextCollectives, ContextOffer, ContextPlace, Destination, Endpoint,
    Envelope, HostMemory, InPlaceReceives, LongWaits, MEETING_CONTEXT, MemoryCopies, NetworkMemory,
    NewContext, NoServices, OneSided, OneSidedOperation, OpenedBetweenRuns, OtherEnds, OtherRuns,
    ProcessName, REPORT_INTERVAL, RememberedCall, RemoteAccess, RemoteAddress, RemotePlace,
    Request, Selector, Series, SimulatedTime, StartedCollective, WaitPlace, WaitReports,
    allocate_for_windows, boards_of, end_together, give_up_on, receive_in_turn, receive_together,
    wait_reports, wait_until_time,
};
pub use error::{Error, Result};
pub use in_place::InPlace;
pub use isolation::Isolation;
pub use memory::{Readable, Writable};
pub use message::{Source, Status, Tag, TagSelector};
pub use operating_system::{OperatingSystem, SleepCall, TracedNoise};
pub use priority::{Priority, PriorityGranted};
pub use real_clock::{smallest_step, wait_until};
pub use reduction::{Element, Operation, Reduction};
pub use shared_line::SharedLine;
pub use time::{ClockQuality, Time, TimeSpan};
pub use untrusted::Untrusted;
pub use work::{Work, WorkKind};
