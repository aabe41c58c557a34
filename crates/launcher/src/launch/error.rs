//! The reasons why a run could not be started or failed.

use std::io;
use std::time::Duration;

use super::RankActivity;
use crate::layout::MAXIMUM_RANKS;
use crate::system::signal_name;

/// What is reported of a run in which no rank can ever continue.
pub const HANG: &str = "deadlock: all ranks wait, and no message is under way";

/// The heading of a report that the user has requested.
pub const ACTIVITIES: &str = "what the ranks do";

/// Returns the heading of a report of ranks that have not moved for some time.
pub fn standstill_in_words(time: Duration) -> String {
    format!("nothing has moved for {} s", time.as_secs())
}

/// The reason why a run could not be started or failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The options are invalid.
    #[error("{0}")]
    BadOptions(String),
    /// A rank failed or died; the others were ended.
    #[error("rank {rank} {reason}; the other ranks were ended")]
    RankFailed {
        /// Number of the rank.
        rank: usize,
        /// Description of its failure.
        reason: String,
        /// Status with which it ended, or 128 plus the number of the signal that killed it, as shells have it.
        status: u8,
    },
    /// No rank could ever continue; all were ended.
    #[error("{HANG}; all ranks were ended")]
    Hang {
        /// The activity of each rank.
        ranks: Vec<RankActivity>,
    },
    /// The run has not ended in its time; all ranks were ended.
    #[error("the run has not ended in {} s; all ranks were ended", limit.as_secs_f64())]
    OutOfTime {
        /// The time that it had.
        limit: Duration,
        /// The activity of each rank at that time.
        ranks: Vec<RankActivity>,
    },
    /// A signal to the launcher ended the run.
    #[error("interrupted by {}; all ranks were ended", signal_name(*signal))]
    Interrupted {
        /// Number of the signal.
        signal: i32,
    },
    /// The receiver of the reports requested the end; all ranks were ended.
    #[error("stopped by the receiver of the reports; all ranks were ended")]
    Stopped,
    /// A rank's program was not found, or the system does not execute it.
    #[error("cannot start '{program}': {reason}")]
    CannotExecute {
        /// The program.
        program: String,
        /// The system's message.
        reason: String,
        /// Whether it was not found.
        is_missing: bool,
    },
    /// The operating system refused a request.
    #[error("{what} failed: {reason}")]
    System {
        /// The operation that failed.
        what: String,
        /// The system's message, and the next step where one is known.
        reason: String,
    },
}

/// Statuses of programs that were not found, and that were not executed, as shells have them.
const STATUS_MISSING: u8 = 127;
const STATUS_NOT_EXECUTED: u8 = 126;

impl LaunchError {
    /// Returns the status of a shell for a program that it cannot start.
    pub fn status_of_missing(is_missing: bool) -> u8 {
        if is_missing { STATUS_MISSING } else { STATUS_NOT_EXECUTED }
    }

    pub(super) fn no_ranks() -> Self {
        LaunchError::BadOptions("a run needs at least 1 rank, not 0".into())
    }

    /// Returns the error of a program that was not started because of an error of the system. `None` if that is not
    /// about the program, but about the lack of something.
    pub(super) fn cannot_execute(program: &str, error: &io::Error) -> Option<Self> {
        let about_program = [
            libc::ENOENT,
            libc::ENOTDIR,
            libc::EACCES,
            libc::EPERM,
            libc::ENOEXEC,
            libc::EISDIR,
            libc::ELOOP,
            libc::ENAMETOOLONG,
            libc::ETXTBSY,
            libc::ELIBBAD,
        ];
        about_program.contains(&error.raw_os_error()?).then(|| LaunchError::CannotExecute {
            program: program.into(),
            reason: error.to_string(),
            is_missing: error.kind() == io::ErrorKind::NotFound,
        })
    }

    pub(super) fn too_many_ranks(ranks: usize) -> Self {
        LaunchError::BadOptions(format!(
            "{ranks} ranks are too many: the local fabric starts a process for each and reserves a ring for each pair, \
             up to {MAXIMUM_RANKS} ranks; simulated machines take more"
        ))
    }
}
