//! The connections of a process with other runs, and the encoding of their contexts and requests.

use contract::{ContextPlace, Error, Request, Result};
use fabric_tcp::OtherProcesses;

/// The bit of a request between runs.
const OF_OTHERS: u32 = 1 << 31;

/// Returns whether a context of messages is one between runs.
#[inline(always)]
pub(super) fn is_between_runs(context: u32) -> bool {
    context >> 31 != 0
}

#[inline(always)]
pub(super) fn is_of_others(request: Request) -> bool {
    request.0 & OF_OTHERS != 0
}

/// Returns a request between runs, among those of the fabric.
pub(super) fn of_others(request: Request) -> Request {
    Request(request.0 | OF_OTHERS)
}

/// Converts it back.
pub(super) fn within(request: Request) -> Request {
    Request(request.0 & !OF_OTHERS)
}

/// The connections of a process with other runs.
#[derive(Default)]
pub(super) struct Others {
    /// `None` until there is a connection.
    pub(super) processes: Option<Box<OtherProcesses>>,
    pub(super) polls: u32,
    /// Number of consecutive idle polls.
    pub(super) idle: u32,
}

impl Others {
    #[inline(always)]
    pub(super) fn are_any(&self) -> bool {
        self.processes.is_some()
    }

    /// Returns whether there are any, and `holds` returns true for them.
    #[inline(always)]
    pub(super) fn has(&self, holds: impl FnOnce(&OtherProcesses) -> bool) -> bool {
        self.processes.as_ref().is_some_and(|processes| holds(processes))
    }

    /// Returns them, or an error if there are none.
    pub(super) fn processes(&mut self) -> Result<&mut OtherProcesses> {
        self.processes.as_deref_mut().ok_or(Error::UnknownRequest)
    }

    /// Returns them for one of their requests.
    pub(super) fn expect(&self) -> &OtherProcesses {
        self.processes.as_ref().expect("a request between runs is one of them")
    }

    pub(super) fn expect_mut(&mut self) -> &mut OtherProcesses {
        self.processes.as_mut().expect("a request between runs is one of them")
    }

    pub(super) fn close_context(&mut self, place: ContextPlace) {
        if let Some(processes) = &mut self.processes {
            processes.close_context(place);
        }
    }

    pub(super) fn leave(&mut self) -> Result<()> {
        self.processes.as_mut().map_or(Ok(()), |processes| processes.leave())
    }
}
