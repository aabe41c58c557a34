//! The endpoint of this fabric: the contract's [`Endpoint`](contract::Endpoint) over the engine, and its life from
//! joining the run to finishing.

mod collectives;
mod composed;
mod contexts;
#[cfg(feature = "delayed-sends")]
mod delay;
mod implementation;
mod join;
mod process;
mod shared_line;

use std::collections::BTreeMap;

use contract::{ContextPlace, LongWaits, Result, WaitPlace, WaitReports};
use launcher::{RunClock, Seat};

pub use join::{join_if_rank, launch_options};
pub use process::ShmProcess;

use crate::team::Team;
use crate::transport::{Engine, InPlaceMessage};
use contexts::RetiredBoard;

/// One rank's endpoint of the shared-memory fabric.
pub struct ShmEndpoint {
    engine: Engine,
    clock: RunClock,
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
    fn new(engine: Engine, purpose: Purpose) -> Self {
        ShmEndpoint {
            teams: vec![Some(Box::new(Team::world(&engine)))],
            clock: engine.transport().seat().clock(),
            engine,
            purpose,
            free_places: Vec::new(),
            retired: Vec::new(),
            in_place: Vec::new(),
            left: false,
        }
    }

    /// Returns this rank's seat.
    #[inline]
    pub fn seat(&self) -> &Seat {
        self.engine.transport().seat()
    }

    fn details(&self) -> BTreeMap<String, String> {
        let mut details = self.engine.transport().describe();
        details.insert("clock".into(), self.clock.name().into());
        let binding = match self.seat().processor() {
            Some(processor) => format!("rank {} on processor {processor}", self.engine.rank()),
            None => "not bound".into(),
        };
        details.insert("binding".into(), binding);
        details.extend(ShmEndpoint::describe_boards());
        details
    }

    fn end_run(&mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.engine.complete_sends());
        self.seat().finish(outcome)
    }
}

impl LongWaits for ShmEndpoint {
    fn wait_reports(&self) -> Option<&dyn WaitReports> {
        Some(self.seat())
    }

    fn report_wait(&mut self, place: WaitPlace) {
        self.engine.report_wait(place);
    }
}
