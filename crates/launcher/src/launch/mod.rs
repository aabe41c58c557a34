//! The launcher: starts the processes of a run, and supervises their reports, their deaths, their progress, and the
//! user's signals.

mod activity;
mod error;
mod options;
mod process;
mod reports;
mod signals;
mod standstill;
mod supervise;
mod watch;
mod whole_run;
mod written;

pub use activity::{Activity, CallSite, RankActivity, ThreadWait, WaitLine};
pub use error::{ACTIVITIES, HANG, LaunchError, standstill_in_words};
pub use options::{Binding, Input, LaunchOptions, OtherProgram, Streams};
pub use standstill::Amounts;
pub use watch::{OnHang, Watch};
pub use whole_run::{HangSearch, NextStep, WholeRun, Word};
pub use written::launch_and_read;

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use crate::clock::Calibration;
use crate::memory::RunMemory;
use crate::page::Choices;
use process::Process;
use signals::Signals;
use supervise::Supervisor;

/// Runs a program as `options.ranks` ranks, and returns when all of them have ended.
///
/// `on_report` receives the reports that ranks pass to [`Reporter::report`](crate::Reporter::report): each report
/// complete, those of one rank in their order. It is called on this thread, between checks of the ranks, so it should
/// be quick. After it has returned `Break`, it is not called again, and the ranks are ended.
///
/// During the run SIGINT, SIGTERM and SIGHUP end the run instead of this process, except those that the process
/// ignores. No rank outlives this call, nor this process, however it ends.
///
/// # Errors
/// The first failure. All ranks have ended by then.
pub fn launch(
    options: &LaunchOptions,
    on_report: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<(), LaunchError> {
    let plan = options.plan()?;
    let calibration = Calibration::begin();
    let choices = Choices {
        every_rank_has_a_processor: plan.every_rank_has_a_processor,
        cross_memory_attach: options.cross_memory_attach,
        arenas: true,
    };
    let failed = |what: &str, error: std::io::Error| LaunchError::System {
        what: what.into(),
        reason: error.to_string(),
    };
    let room = (options.room)(options.ranks);
    let mut memory = RunMemory::create(options.ranks, &options.job, room, choices)
        .map_err(|error| failed("making the shared memory", error))?;
    if options.waits_for_descriptors {
        memory.make_bells().map_err(|error| failed("making the ranks' bells", error))?;
    }
    let signals = Signals::catch(options.any_program)
        .map_err(|error| failed("preparing for signals", error))?;
    let mut supervisor = Supervisor::new(&memory, &signals, options);
    for rank in 0..options.ranks {
        match Process::start(options, &memory, rank, &plan.processors[rank]) {
            Ok(process) => supervisor.add(process),
            Err(error) => {
                supervisor.abort(None, "a rank could not be started");
                supervisor.run(&mut |_| ControlFlow::Continue(()));
                return Err(error);
            }
        }
    }
    memory.run_page().set_clock(calibration.finish());
    supervisor.run(on_report);
    // Relaxed: its partner is the load of the caller, on this thread or one that learns of the end from it.
    options.has_joined.store(memory.run_page().has_been_joined(), Ordering::Relaxed);
    supervisor.outcome()
}
