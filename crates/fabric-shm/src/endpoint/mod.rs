//! The endpoint of this fabric: the contract's [`Endpoint`](contract::Endpoint) over the engine, and its life from
//! joining the run to finishing.

#[cfg(feature = "delayed-sends")]
mod delay;
mod implementation;
mod join;
mod process;
mod shared_line;

use std::collections::BTreeMap;
use std::time::Duration;

use contract::{Error, Result};
use engine::Messages;
use launcher::{RunClock, Seat};

pub use join::{join_if_rank, launch_options};
pub use process::ShmProcess;

use crate::collectives::{HostCollectives, Owner, Purpose};
use crate::transport::{Engine, Rings};

/// One rank's endpoint of the shared-memory fabric.
pub struct ShmEndpoint {
    engine: Engine,
    clock: RunClock,
    collectives: HostCollectives,
}

impl Owner for ShmEndpoint {
    const IS_COMPILED: bool = true;

    fn collectives(&mut self) -> &mut HostCollectives {
        &mut self.collectives
    }

    #[inline]
    fn parts(&mut self) -> (&mut Messages, &mut Rings) {
        self.engine.parts_mut()
    }

    fn wait_until(&mut self, done: &mut dyn FnMut(&mut Self) -> bool) -> Result<()> {
        Engine::wait_until(self, |endpoint| &mut endpoint.engine, done)
    }

    fn fail(&mut self, error: Error) -> Error {
        self.engine.fail(error)
    }
}

impl ShmEndpoint {
    fn new(engine: Engine, purpose: Purpose) -> Self {
        ShmEndpoint {
            collectives: HostCollectives::new(engine.transport(), purpose),
            clock: engine.transport().seat().clock(),
            engine,
        }
    }

    /// Limits the duration of this rank's sleeps from now on.
    pub fn sleep_at_most(&mut self, limit: Duration) {
        self.engine.sleep_at_most(limit);
    }

    /// Returns the rings of a rank that was just created.
    pub fn into_rings(self) -> Rings {
        self.engine.into_transport()
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
        details.extend(HostCollectives::describe());
        details
    }

    fn end_run(&mut self, outcome: Result<()>) -> i32 {
        let outcome = outcome.and_then(|()| self.engine.complete_sends());
        self.seat().finish(outcome)
    }
}
