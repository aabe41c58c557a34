//! What a fabric can do with processes of other runs on the same host, which this run did not start with.
//!
//! A process is numbered by whoever knows it: ranks of its own run come first, and every other process that it meets gets
//! the next number. Messages to others travel in contexts of their own, whose numbers begin with
//! [`BETWEEN_RUNS`]: what is of one run and what is between several never meets.

use super::{ContextOffer, ContextPlace};
use crate::{Error, Result};

/// The highest bit of the number of a context between runs.
pub const BETWEEN_RUNS: u32 = 1 << 30;

/// The context between runs that every process has from the beginning, in which those meet that have no other.
pub const MEETING_CONTEXT: u32 = BETWEEN_RUNS;

/// A process, as all processes of the host know it, and what it takes to call it. Names are ordered, the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessName(pub [u8; ProcessName::BYTES]);

impl ProcessName {
    /// The length of a name.
    pub const BYTES: usize = 46;

    /// Returns the name in `bytes`; none if there are not as many.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(ProcessName)
    }
}

/// A context between runs that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedBetweenRuns {
    /// The number by which this process alone knows it.
    pub number: u32,
    /// What closes it.
    pub place: ContextPlace,
}

/// The other runs of an endpoint. What is said here holds for a fabric that knows of none.
pub trait OtherRuns {
    /// This process's name. From the first call on it answers those who call it.
    ///
    /// # Errors
    /// [`Error::Unsupported`], and [`Error::System`].
    fn own_name(&mut self) -> Result<ProcessName> {
        unsupported()
    }

    /// Returns the number of a process: its rank, if it is of this run.
    ///
    /// # Errors
    /// As of [`own_name`](OtherRuns::own_name).
    fn meet(&mut self, _name: &ProcessName) -> Result<usize> {
        unsupported()
    }

    /// Returns whether this process's name comes before that of another that it has met.
    fn comes_before(&self, _other: usize) -> bool {
        false
    }

    /// Returns whether this process is connected with all of these, which it has met. If not, it is on its way there:
    /// to be asked again after every look at what has arrived, by all of them.
    ///
    /// # Errors
    /// [`Error::System`] if one of them cannot be called.
    fn reach(&mut self, _members: &[usize]) -> Result<bool> {
        unsupported()
    }

    /// Opens a port: others may [`call`](OtherRuns::call) it by this number and this process's name.
    ///
    /// # Errors
    /// As of [`own_name`](OtherRuns::own_name).
    fn open_port(&mut self) -> Result<u32> {
        unsupported()
    }

    /// Closes a port; false if it is not open.
    fn close_port(&mut self, _port: u32) -> bool {
        false
    }

    /// Calls a port of a process, and gives the number of that process once it has answered that the port is open. Asked
    /// again after every look at what has arrived.
    ///
    /// # Errors
    /// [`Error::System`] if nobody answers there, or the port is not open.
    fn call(&mut self, _name: &ProcessName, _port: u32) -> Result<Option<usize>> {
        unsupported()
    }

    /// This process's part in a context between runs to come, as [`offer_context`](crate::Endpoint::offer_context).
    ///
    /// # Errors
    /// As of [`own_name`](OtherRuns::own_name).
    fn offer_between_runs(&mut self) -> Result<ContextOffer> {
        unsupported()
    }

    /// Opens it for `members`, of which this process is number `me`; all are connected with each other.
    ///
    /// # Errors
    /// As of [`own_name`](OtherRuns::own_name).
    fn open_between_runs(
        &mut self,
        _members: &[usize],
        _me: usize,
        _offers: &[ContextOffer],
    ) -> Result<OpenedBetweenRuns> {
        unsupported()
    }
}

#[cold]
fn unsupported<T>() -> Result<T> {
    let (fabric, what) = ("this fabric".into(), "reach processes of other runs".into());
    Err(Error::Unsupported { fabric, what })
}
