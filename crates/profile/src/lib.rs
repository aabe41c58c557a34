//! The records that a preloaded library makes in every rank of an MPI program, and their analysis.
//!
//! `layout` defines the position of each number in the memory that a rank shares with its launcher. So the records of a
//! rank survive however the rank ends. `record` reads that memory. The other modules are pure functions of records: the
//! send that belongs to each receive (`matching`), what each call ended with (`arrivals`), the waits of ranks for each
//! other (`waits`), the accesses to windows that nothing orders (`conflicts`), and the chain of activities that determines the run's length (`path`).
#![forbid(unsafe_code)]

mod access;
mod arrivals;
mod clocks;
mod collectives;
mod conflicts;
mod event;
mod finding;
mod functions;
mod layout_shape;
mod least;
mod matching;
mod moment;
mod path;
mod record;
#[cfg(test)]
mod testing;
mod waits;

pub mod layout;

pub use access::{AccessKind, Synchronisation, WindowAccess};
pub use arrivals::{Arrival, Dependence, WaitKind, arrivals};
pub use conflicts::{Conflict, Side, conflicts};
pub use event::{Event, IDLE_TICKS, Kind, NOBODY};
pub use finding::{Finding, FindingKind};
pub use functions::{Class, function};
pub use layout_shape::Shape;
pub use matching::{Matched, messages};
pub use moment::Clock;
pub use path::{PathPart, Stretch, critical_path};
pub use record::{Communicator, Histogram, Malformed, Object, Peer, RankRecord, Site, State};
pub use waits::{Wait, waits};
