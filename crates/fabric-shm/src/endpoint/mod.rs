//! The endpoint of this fabric: the contract's [`Endpoint`](contract::Endpoint) over the engine, and its life from
//! joining the run to finishing.

mod collectives;
mod composed;
mod contexts;
#[cfg(feature = "delayed-sends")]
mod delay;
mod implementation;
mod join;
mod library;
mod long_waits;
mod process;
mod real_time;
mod reporter;
mod shared_line;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use contract::{Awaited, ContextPlace, Envelope, Error, Result};

pub use join::join_if_rank;
pub use process::ShmProcess;
pub use reporter::Reporter;

use crate::clock::Clock;
use crate::engine::{Engine, InPlaceMessage};
use crate::segment::{PollState, State};
use crate::team::Team;
use contexts::RetiredBoard;

/// One rank's endpoint of the shared-memory fabric.
pub struct ShmEndpoint {
    engine: Engine,
    clock: Clock,
    processor: Option<usize>,
    reporter: Reporter,
    purpose: Purpose,
    /// The teams of contexts, by their places. A context has none if some member has no board, and while one of its
    /// collectives is in progress. The teams lie in the engine's segment.
    teams: Vec<Option<Box<Team>>>,
    /// Places of closed contexts.
    free_places: Vec<ContextPlace>,
    /// Boards that may be reused once everybody has left them.
    retired: Vec<RetiredBoard>,
    /// In-place messages of other ranks that the program reads, by number.
    in_place: Vec<Option<InPlaceMessage>>,
    left: bool,
    finished: bool,
}

/// The kind of user whose messages an endpoint carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A program over the contract. A collective in which the ranks are in different calls ends the run.
    Program,
    /// A library with an interface of its own. Such a collective fails alone, and the run goes on.
    Library,
}

impl ShmEndpoint {
    fn new(
        engine: Engine,
        clock: Clock,
        processor: Option<usize>,
        reports: OwnedFd,
        purpose: Purpose,
    ) -> Self {
        ShmEndpoint {
            teams: vec![Some(Box::new(Team::world(&engine)))],
            engine,
            clock,
            processor,
            reporter: Reporter::new(reports),
            purpose,
            free_places: Vec::new(),
            retired: Vec::new(),
            in_place: Vec::new(),
            left: false,
            finished: false,
        }
    }

    /// Returns the bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.engine.segment().job()
    }

    /// Returns a handle that passes reports to the launcher.
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Returns why the run was aborted, if it was: for a rank that waits outside the calls of this fabric.
    pub fn abort_reason(&self) -> Option<Error> {
        let abort = &self.engine.segment().header().abort;
        abort.is_raised().then(|| abort.error())
    }

    /// Reports a long wait outside the calls of this fabric to the launcher, with the result of a poll for everything.
    pub fn report_wait(&self, found: PollState) {
        self.engine.segment().block(self.engine.rank()).wait_note().report(found);
    }

    /// Answers the launcher's question about this wait, with the messages that no receive has matched.
    pub fn answer(&self, awaited: &[Awaited], unexpected: &[Envelope]) {
        self.engine.answer(awaited, unexpected);
    }

    /// Returns whether the launcher asks what this rank waits for.
    pub fn is_asked_what_it_awaits(&self) -> bool {
        self.engine.segment().block(self.engine.rank()).wait_note().question().is_some()
    }

    fn details(&self) -> BTreeMap<String, String> {
        let mut details = self.engine.describe();
        details.insert("clock".into(), self.clock.name().into());
        let binding = match self.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.engine.rank()),
            None => "not bound".into(),
        };
        details.insert("binding".into(), binding);
        details.extend(ShmEndpoint::describe_boards());
        details
    }

    fn end_run(&mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.engine.flush());
        self.finished = true;
        let segment = self.engine.segment();
        let block = segment.block(self.engine.rank());
        let status = match outcome {
            Ok(()) => {
                block.set_state(State::Finished);
                0
            }
            Err(error) => {
                segment.header().abort.raise(Some(self.engine.rank()), &error.to_string());
                block.set_state(State::Failed);
                1
            }
        };
        segment.wake_all();
        status
    }
}

impl Drop for ShmEndpoint {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let how = if std::thread::panicking() {
            "its program panicked"
        } else {
            "its program ended without finish()"
        };
        let segment = self.engine.segment();
        segment.header().abort.raise_death(self.engine.rank(), how);
        segment.block(self.engine.rank()).set_state(State::Failed);
        segment.wake_all();
    }
}
