//! The options of `launch` that explain the run of a program.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
#[command(next_help_heading = "Explaining the program (which must use our library)")]
pub(crate) struct ObservationArguments {
    /// Report the time of each rank by call and source line, the waits between ranks, the messages between ranks, and
    /// the critical path: a summary at the end, and FILE as an HTML page (.html) or as JSON (.json); may be given
    /// several times [default: PROGRAM-report.html]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) report: Vec<OsString>,

    /// Compare the time of messages and collectives with the limits of this machine in RUN, a results file of
    /// `cornerstone run limits` (with --report)
    #[arg(long, value_name = "RUN", requires = "report")]
    pub(crate) limits: Option<PathBuf>,

    /// Write a trace of all calls, messages and the critical path, for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Report buffers of calls that have not ended which overlap or are changed, and accesses to windows that nothing orders;
    /// sends wait for their receives, and collectives for all. If anything is found, end with status 1
    #[arg(long)]
    pub(crate) check: bool,

    /// Write everything that is found wrong with the program to FILE, however it ends: as text (.txt), JSON (.json),
    /// SARIF for code scanning (.sarif) or JUnit for CI (.xml); may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) check_report: Vec<OsString>,

    /// Do not count what --check and --check-leaks find if a line of FILE names it: KIND [FILE [FUNCTION]]
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,
}
