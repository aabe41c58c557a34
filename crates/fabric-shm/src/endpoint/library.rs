//! Endpoints of libraries whose programs do not know this fabric.

use std::fs::File;
use std::os::fd::OwnedFd;

use contract::{Error, Result};

use super::join::join_from_library;
use super::{Purpose, ShmEndpoint};
use crate::clock::{Calibration, Clock};
use crate::engine::Engine;
use crate::segment::{Choices, Segment, State};

impl ShmEndpoint {
    /// Joins the run if [`launch`](crate::launch) has started this process with
    /// [`any_program`](crate::LaunchOptions::any_program). Returns `None` otherwise. Must be called before other
    /// threads exist, because it removes the launcher's variable from the environment.
    pub fn join_library() -> Option<Result<Self>> {
        join_from_library()
    }

    /// Creates a run of this process alone, without a launcher.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses the memory.
    pub fn alone() -> Result<Self> {
        let failed = |error: std::io::Error| Error::System {
            what: "making a run of one rank".into(),
            reason: error.to_string(),
        };
        let choices =
            Choices { every_rank_has_a_processor: true, cross_memory_attach: false, arenas: false };
        let segment = Segment::create(1, &[], choices).map_err(failed)?;
        segment.block(0).set_process(std::process::id());
        segment.block(0).set_state(State::Alive);
        let clock = Clock::new(Calibration::without());
        // Nobody reads reports.
        let nowhere = File::options().write(true).open("/dev/null").map_err(failed)?;
        let engine = Engine::new(segment, 0);
        Ok(ShmEndpoint::new(engine, clock, None, OwnedFd::from(nowhere), Purpose::Library))
    }
}
