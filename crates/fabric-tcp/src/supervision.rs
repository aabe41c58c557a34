//! The supervision of a rank from outside its process, which knows why a run ends early.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use contract::{Error, Result};
use hosts::Placement;
use launcher::{Seat, wait_for_cause};

use crate::control::Control;
use crate::reporter::Reporter;

/// Time limit for the cause of a broken connection to become known. After it a rank reports only that the connection
/// broke.
const CAUSE_LIMIT: Duration = Duration::from_secs(1);

/// The supervisor of a rank.
pub(crate) enum Supervision {
    /// The launcher on the same host, through a page of shared memory.
    Local(Box<Seat>),
    /// The process that started the run, on any host, through a connection.
    Remote(Control),
    /// None: the processes belong to different runs. The loss of one affects only those that need it.
    Nobody,
}

impl Supervision {
    /// Returns whether there is none.
    pub(crate) fn is_nobody(&self) -> bool {
        matches!(self, Supervision::Nobody)
    }

    /// Returns why the run was aborted, if it was.
    pub(crate) fn abort_reason(&mut self) -> Option<Error> {
        match self {
            Supervision::Local(seat) => seat.abort_reason(),
            Supervision::Remote(control) => control.abort_reason(),
            Supervision::Nobody => None,
        }
    }

    /// Returns why the run was aborted, which may take a moment to become known, or `None` if it does not.
    pub(crate) fn wait_for_cause(&mut self) -> Option<Error> {
        wait_for_cause(CAUSE_LIMIT, || self.abort_reason())
    }

    /// Returns a descriptor that becomes readable when the run may have been aborted, if there is one.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Supervision::Local(_) | Supervision::Nobody => None,
            Supervision::Remote(control) => Some(control.descriptor()),
        }
    }

    /// Reports the outcome of this rank's part, and returns the status that the process should exit with.
    pub(crate) fn finish(self, outcome: Result<()>) -> i32 {
        match self {
            Supervision::Local(seat) => seat.finish(outcome),
            Supervision::Remote(control) => control.finish(outcome),
            Supervision::Nobody => i32::from(outcome.is_err()),
        }
    }

    /// Returns the launcher's knowledge of the ranks' processors, or `None` if the ranks must determine them together.
    pub(crate) fn placement(&self) -> Option<Placement> {
        match self {
            Supervision::Local(seat) => Some(Placement {
                processor: seat.processor(),
                every_rank_has_a_processor: seat.choices().every_rank_has_a_processor,
                hosts: 1,
            }),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// Returns this rank's seat, if the launcher on this host has started it.
    pub(crate) fn seat(&self) -> Option<&Seat> {
        match self {
            Supervision::Local(seat) => Some(seat),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// Returns a handle that passes reports to the process that started the run.
    pub(crate) fn reporter(&self) -> Reporter {
        match self {
            Supervision::Local(seat) => Reporter::local(seat.reporter()),
            Supervision::Remote(control) => Reporter::remote(control.stream()),
            Supervision::Nobody => unreachable!("only a rank of one run reports"),
        }
    }
}
