//! What supervises a rank from outside its process, and knows why a run ends early.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use contract::{Error, Priority, PriorityGranted, Result};
use fabric_shm::ShmEndpoint;
use hosts::Settled;

use crate::control::Control;
use crate::launched::Launched;
use crate::reporter::Reporter;

/// How long a rank whose connection broke waits for the cause to become known, before it reports only that it broke.
const CAUSE_LIMIT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// What supervises a rank.
pub(crate) enum Supervision {
    /// The launcher on the same host, through a page of shared memory.
    Local(Box<Launched>),
    /// The process that started the run, on whatever host, through a connection.
    Remote(Control),
    /// Nobody: the processes belong to different runs. One that is lost is lost to those who need it alone.
    Nobody,
}

impl Supervision {
    /// Returns the launcher, where it is on the same host.
    pub(crate) fn launcher(&mut self) -> Option<&mut ShmEndpoint> {
        match self {
            Supervision::Local(launched) => Some(launched.endpoint_mut()),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// Returns whether there is nobody.
    pub(crate) fn is_nobody(&self) -> bool {
        matches!(self, Supervision::Nobody)
    }

    /// Returns why the run was given up, if it was.
    pub(crate) fn given_up(&mut self) -> Option<Error> {
        match self {
            Supervision::Local(launched) => launched.given_up(),
            Supervision::Remote(control) => control.given_up(),
            Supervision::Nobody => None,
        }
    }

    /// Returns why the run was given up, which may take a moment to become known. `None` if it does not.
    pub(crate) fn wait_for_cause(&mut self) -> Option<Error> {
        let begin = Instant::now();
        loop {
            let error = self.given_up();
            if error.is_some() || begin.elapsed() > CAUSE_LIMIT {
                return error;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns what becomes readable when the run may have been given up. `None` if nothing does.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Supervision::Local(_) | Supervision::Nobody => None,
            Supervision::Remote(control) => Some(control.descriptor()),
        }
    }

    /// Reports how this rank's part ended, and gives the status that the process should exit with.
    pub(crate) fn finish(self, outcome: Result<()>) -> i32 {
        match self {
            Supervision::Local(launched) => launched.finish(outcome),
            Supervision::Remote(control) => control.finish(outcome),
            Supervision::Nobody => i32::from(outcome.is_err()),
        }
    }

    /// Returns what the launcher knows of the ranks' processors. `None` where the ranks have to find that out together.
    pub(crate) fn placement(&self) -> Option<Settled> {
        match self {
            Supervision::Local(launched) => Some(launched.placement()),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// Returns the rank that the launcher on this host has started, whose memory all ranks share.
    pub(crate) fn launched(&self) -> Option<&ShmEndpoint> {
        match self {
            Supervision::Local(launched) => Some(launched.endpoint()),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// The same, to change.
    pub(crate) fn launched_mut(&mut self) -> Option<&mut ShmEndpoint> {
        match self {
            Supervision::Local(launched) => Some(launched.endpoint_mut()),
            Supervision::Remote(_) | Supervision::Nobody => None,
        }
    }

    /// Asks for a priority among the ranks that share this rank's processor.
    pub(crate) fn set_priority(&mut self, priority: Priority) -> PriorityGranted {
        match self {
            Supervision::Local(launched) => launched.set_priority(priority),
            Supervision::Remote(_) | Supervision::Nobody => PriorityGranted::Refused {
                why: "ranks over TCP have priorities only where one host starts them all".into(),
            },
        }
    }

    /// Returns what hands reports to the process that started the run.
    pub(crate) fn reporter(&self) -> Reporter {
        match self {
            Supervision::Local(launched) => Reporter::local(launched.reporter()),
            Supervision::Remote(control) => Reporter::remote(control.stream()),
            Supervision::Nobody => unreachable!("only a rank of one run reports"),
        }
    }
}
