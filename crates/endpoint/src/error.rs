//! Errors of calls between ranks.

use collectives::{AgreedCall, CallId};
use serde::{Deserialize, Serialize};

/// The result of a call of the contract.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call of the contract failed. Each message names the thing and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// A destination, source or root is not a rank of the run.
    #[error("there is no rank {rank}: the run has ranks 0 to {}", size - 1)]
    InvalidRank {
        /// The requested rank.
        rank: usize,
        /// Number of ranks of the run.
        size: usize,
    },
    /// A tag is above the largest one.
    #[error("tag {tag} is above the largest tag, {}", crate::Tag::MAX)]
    InvalidTag {
        /// The requested tag.
        tag: u32,
    },
    /// A message is longer than the buffer of its receive. The message is consumed, and the buffer has its beginning.
    #[error(
        "a message of {message_bytes} bytes from rank {from} with tag {tag} does not fit the receive buffer of {buffer_bytes} bytes"
    )]
    Truncated {
        /// Rank of the sender.
        from: usize,
        /// Tag of the message.
        tag: u32,
        /// Length of the message.
        message_bytes: usize,
        /// Length of the buffer.
        buffer_bytes: usize,
    },
    /// Lengths contradict each other, within one call or between the ranks of a collective.
    #[error("{collective}: {what} is {found_bytes} bytes where {expected_bytes} are expected")]
    UnequalCounts {
        /// The collective's name.
        collective: String,
        /// The buffer, or the rank whose buffer it is.
        what: String,
        /// The correct length.
        expected_bytes: usize,
        /// The given length.
        found_bytes: usize,
    },
    /// The ranks did not all call the same collective with the same root and operation.
    #[error("collectives do not match: {explanation}")]
    MismatchedCollective {
        /// The calls of the ranks.
        explanation: String,
    },
    /// A rank ended or was killed. Every call that may depend on it fails.
    #[error("rank {rank} died ({how})")]
    RankDied {
        /// The dead rank.
        rank: usize,
        /// Its status or signal, if known.
        how: String,
    },
    /// A rank has ended its part of the run before something that another one waits for.
    #[error("rank {rank} ended its part of the run before {before}")]
    RankEnded {
        /// The rank.
        rank: usize,
        /// What does not happen any more.
        before: String,
    },
    /// The run was aborted: another rank failed, or the user interrupted it.
    #[error("the run was aborted: {why}")]
    Aborted {
        /// The cause of the abort.
        why: String,
    },
    /// A wait can never end. Simulated machines and the reference fabric detect every circle of waiting ranks. Shared
    /// memory detects a blocking send to oneself without a posted receive, and a wait for any rank when all others have
    /// ended. TCP detects a wait for a message of one's own.
    #[error("deadlock: {explanation}")]
    Deadlock {
        /// The waiting ranks, and the events that they wait for.
        explanation: String,
    },
    /// Memory could not be allocated.
    #[error("no memory for {what} ({bytes} bytes)")]
    OutOfMemory {
        /// Purpose of the memory.
        what: String,
        /// Length in bytes.
        bytes: u64,
    },
    /// An operation addresses memory that a member of a window does not have.
    #[error(
        "{bytes} bytes at offset {offset} do not lie in the window of rank {rank}, which has {window_bytes} bytes"
    )]
    OutOfWindow {
        /// The member, as a rank of the window.
        rank: usize,
        /// Offset of the bytes.
        offset: u64,
        /// Number of the bytes.
        bytes: u64,
        /// Length of the member's memory.
        window_bytes: u64,
    },
    /// A posted operation is unknown to this rank: it was completed before, or another rank posted it.
    #[error(
        "there is no posted operation with this handle: it was completed before, or belongs to another rank"
    )]
    UnknownRequest,
    /// The fabric does not support an operation.
    #[error("{fabric} cannot {what}")]
    Unsupported {
        /// The fabric's name.
        fabric: String,
        /// The operation.
        what: String,
    },
    /// A call to the operating system failed.
    #[error("{what}: {reason}")]
    System {
        /// The operation that failed.
        what: String,
        /// The system's message.
        reason: String,
    },
    /// The program of a rank detected an error, such as a wrong result.
    #[error("{0}")]
    Program(String),
}

impl Error {
    /// Returns whether another rank or the user caused it: a rank died, or the run was aborted.
    pub fn is_by_another(&self) -> bool {
        matches!(self, Error::RankDied { .. } | Error::Aborted { .. })
    }

    /// Returns the error of this rank's call and another's, on which all members should agree, or `None` if they do.
    pub fn of_calls(
        (me, own): (usize, AgreedCall),
        (other, theirs): (usize, AgreedCall),
    ) -> Option<Self> {
        let ids = [(me, own.id), (other, theirs.id)];
        if let Some(explanation) = CallId::explain_difference(ids[0], ids[1]) {
            return Some(Error::MismatchedCollective { explanation });
        }
        (own.bytes != theirs.bytes).then(|| Error::UnequalCounts {
            collective: own.id.name().into(),
            what: format!("the data of rank {other}"),
            expected_bytes: own.bytes,
            found_bytes: theirs.bytes,
        })
    }

    /// Returns the error of this rank's call if another rank has made other calls, which are no longer known.
    pub fn of_unknown_call((me, own): (usize, CallId), other: usize) -> Self {
        let explanation = format!(
            "rank {me} is in {own}; rank {other} has made other collectives, or in another order"
        );
        Error::MismatchedCollective { explanation }
    }
}
