//! The records that a preloaded library makes in every rank of an MPI program, and their analysis.
//!
//! `layout` defines the position of each number in the memory that a rank shares with its launcher, so that what a rank
//! has noted is there however it ends. `record` reads that memory. The rest are pure functions of records: which send
//! belongs to which receive (`matching`), who waited for whom (`waits`), and the chain of activities that the run's
//! length depends on (`path`).
#![forbid(unsafe_code)]

mod event;
mod finding;
mod functions;
mod layout_shape;
mod matching;
mod moment;
mod path;
mod record;
#[cfg(test)]
mod testing;
mod waits;

pub mod layout;

pub use event::{Event, Kind, NOBODY};
pub use finding::{Finding, FindingKind};
pub use functions::{Class, function};
pub use layout_shape::Shape;
pub use matching::{Matched, messages};
pub use moment::Clock;
pub use path::{PathPart, Stretch, critical_path};
pub use record::{Communicator, Histogram, Malformed, Object, Peer, RankRecord, Site, State};
pub use waits::{Dependence, DifferentRoots, Wait, WaitKind, different_roots, waits};
