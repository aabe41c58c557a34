//! Why a run could not be started or did not end well.

use super::RankActivity;
use crate::segment::MAXIMUM_RANKS;
use crate::system::signal_name;

/// Why a run could not be started or did not end well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// Options that no run can have.
    #[error("{0}")]
    BadOptions(String),
    /// A rank failed or died; the others were ended.
    #[error("rank {rank} {reason}; the other ranks were ended")]
    RankFailed {
        /// Which one.
        rank: usize,
        /// What happened to it.
        reason: String,
        /// The status it ended with, or 128 and the number of the signal that killed it, as shells have it.
        status: u8,
    },
    /// No rank could ever go on; all were ended.
    #[error("no rank can go on: all wait, and no message is under way; all ranks were ended")]
    Hang {
        /// What each of them did.
        ranks: Vec<RankActivity>,
    },
    /// A signal to the launcher ended the run.
    #[error("interrupted by {}; all ranks were ended", signal_name(*signal))]
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// The receiver of the reports asked for it; all ranks were ended.
    #[error("stopped by the receiver of the reports; all ranks were ended")]
    Stopped,
    /// The operating system refused something.
    #[error("{what} failed: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// The system's own words, and what to do where that is known.
        reason: String,
    },
}

impl LaunchError {
    pub(super) fn no_ranks() -> Self {
        LaunchError::BadOptions("a run needs at least 1 rank, not 0".into())
    }

    pub(super) fn too_many_ranks(ranks: usize) -> Self {
        LaunchError::BadOptions(format!(
            "{ranks} ranks are too many: the local fabric starts a process for each and reserves a ring for each pair, \
             up to {MAXIMUM_RANKS} ranks; simulated machines take more"
        ))
    }
}
