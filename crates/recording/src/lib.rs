//! The operations of an MPI program, rank by rank: recorded once, and replayed on any simulated machine without the
//! program.
//!
//! A recording has the calls of each rank's endpoint: messages with their partners and lengths, collectives of all
//! ranks as collectives, and the computing time between calls. It has no data. A [`replay`](replay()) makes the same
//! calls in the same order, so their time is the time on its machine. A program may behave differently on another
//! machine, because messages arrive in another order; a replay does not.

mod bytes;
mod duties;
mod error;
mod event;
mod exchange;
mod file;
mod longest;
mod operations;
mod replay;

pub use error::RecordingError;
pub use event::{RankEvent, RecordedCollective, Room, SentMessage};
pub use exchange::TextFormat;
pub use file::{Events, Recorder, Recording, create_file};
pub use longest::Longest;
pub use replay::{RankTimes, replay};
