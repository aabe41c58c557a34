//! Communication with processes of other runs on the same host.
//!
//! Each process numbers the others for itself: ranks of its own run come first, and every other process that it
//! connects to gets the next number. Messages to others use contexts of their own, whose numbers begin with
//! [`BETWEEN_RUNS`], so that they never match messages of one run.

use super::{ContextOffer, ContextPlace};
use crate::Result;

/// Highest bit of the number of a context between runs.
pub const BETWEEN_RUNS: u32 = 1 << 30;

/// The context between runs that every process has from the beginning, for processes without any other common one.
pub const MEETING_CONTEXT: u32 = BETWEEN_RUNS;

/// The name of a process among all processes of the host, with the data that are needed to call it. The order of names
/// is the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessName(pub [u8; ProcessName::BYTES]);

impl ProcessName {
    /// Length of a name.
    pub const BYTES: usize = 46;

    /// Returns the name in `bytes`, or `None` if their number is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(ProcessName)
    }
}

/// An open context between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedBetweenRuns {
    /// Number that identifies it in this process only.
    pub number: u32,
    /// Place that closes it.
    pub place: ContextPlace,
}

/// The connections of an endpoint to other runs.
pub trait OtherRuns {
    /// Returns this process's name. From the first call on the process answers callers.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) and [`Error::System`](crate::Error::System).
    fn own_name(&mut self) -> Result<ProcessName>;

    /// Returns the number of a process: its rank, if it is of this run.
    ///
    /// # Errors
    /// As for [`own_name`](OtherRuns::own_name).
    fn meet(&mut self, name: &ProcessName) -> Result<usize>;

    /// Returns whether this process's name precedes that of another process with a number.
    fn comes_before(&mut self, other: usize) -> bool;

    /// Returns whether this process is connected with all of `members`, which have numbers. If not, the connection is
    /// in progress: all of them must call this again after every poll.
    ///
    /// # Errors
    /// [`Error::System`](crate::Error::System) if one of them cannot be called.
    fn reach(&mut self, members: &[usize]) -> Result<bool>;

    /// Opens a port: others may [`call`](OtherRuns::call) it by this number and this process's name.
    ///
    /// # Errors
    /// As for [`own_name`](OtherRuns::own_name).
    fn open_port(&mut self) -> Result<u32>;

    /// Closes a port. Returns false if it is not open.
    fn close_port(&mut self, port: u32) -> bool;

    /// Calls a port of a process. Returns the number of that process once it has answered that the port is open. Must
    /// be called again after every poll until then.
    ///
    /// # Errors
    /// [`Error::System`](crate::Error::System) if no process answers there, or the port is not open.
    fn call(&mut self, name: &ProcessName, port: u32) -> Result<Option<usize>>;

    /// Returns this process's part of a new context between runs, as [`Boards::offer`](crate::Boards::offer).
    ///
    /// # Errors
    /// As for [`own_name`](OtherRuns::own_name).
    fn offer_between_runs(&mut self) -> Result<ContextOffer>;

    /// Opens the context for `members`, in which this process has the number `me`. All must be connected with each
    /// other.
    ///
    /// # Errors
    /// As for [`own_name`](OtherRuns::own_name).
    fn open_between_runs(
        &mut self,
        members: &[usize],
        me: usize,
        offers: &[ContextOffer],
    ) -> Result<OpenedBetweenRuns>;
}
