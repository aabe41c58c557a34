//! What `launch` is to tell about a program's run.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(next_help_heading = "Explaining the program (which must use our library)")]
pub(crate) struct ObservationArguments {
    /// Tell where the time of each rank goes, by call and place, who waits for whom, who sends what to whom, and the
    /// critical path: a summary at the end, and FILE as an HTML page, or as JSON if its name ends in .json; may be
    /// given several times [default: PROGRAM-report.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) report: Vec<OsString>,

    /// Hold the time of calls that receive against the limits of this machine, as RUN measured them: a results file of
    /// `cornerstone run limits` (with --report)
    #[arg(long, value_name = "RUN", requires = "report")]
    pub(crate) limits: Option<PathBuf>,

    /// Write each call, message and the critical path over time, for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Tell which posted buffers overlap, or were changed while they were sent
    #[arg(long)]
    pub(crate) check: bool,
}

impl ObservationArguments {
    /// The first option that was given, as typed.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            (!self.report.is_empty(), "--report"),
            (self.trace.is_some(), "--trace"),
            (self.check, "--check"),
        ]
        .into_iter()
        .find_map(|(given, option)| given.then_some(option))
    }
}
