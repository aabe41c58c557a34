//! Who watches over a run from outside, and knows why it ends when it ends early.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use contract::{Endpoint, Error, Result};
use fabric_shm::ShmProcess;

use crate::control::Control;

/// How long a rank whose connection broke waits to be told why, before it says only that it broke.
const VERDICT_LIMIT: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// What watches over a rank.
pub(crate) enum Supervision {
    /// The launcher on the same host, through a page of shared memory.
    Local(Box<ShmProcess>),
    /// The process that started the run, on whatever host, through a connection.
    Remote(Control),
}

impl Supervision {
    /// Why the run was given up, if it was.
    pub(crate) fn given_up(&mut self) -> Option<Error> {
        match self {
            Supervision::Local(local) => local.given_up(),
            Supervision::Remote(control) => control.given_up(),
        }
    }

    /// Why the run was given up, which may take a moment to become known; none if it does not.
    pub(crate) fn verdict(&mut self) -> Option<Error> {
        let begin = Instant::now();
        loop {
            let error = self.given_up();
            if error.is_some() || begin.elapsed() > VERDICT_LIMIT {
                return error;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// What becomes readable when there may be news; none if there is no such thing.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Supervision::Local(_) => None,
            Supervision::Remote(control) => Some(control.descriptor()),
        }
    }

    /// Tells how this rank's part ended; the process's status.
    pub(crate) fn finish(self, outcome: Result<()>) -> i32 {
        match self {
            Supervision::Local(local) => local.finish(outcome),
            Supervision::Remote(control) => control.finish(outcome),
        }
    }

    /// The processor that this rank is bound to, if it is bound to one, and whether every rank has one. None where the
    /// ranks have to find that out together.
    pub(crate) fn place(&self) -> Option<(Option<usize>, bool)> {
        match self {
            Supervision::Local(local) => {
                Some((local.endpoint().processor(), local.endpoint().every_rank_has_a_processor()))
            }
            Supervision::Remote(_) => None,
        }
    }
}
