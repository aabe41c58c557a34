//! What can go wrong between ranks.

/// The result of a call of the contract.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call of the contract failed. Each message names the thing and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A destination, source or root that is not a rank of the run.
    #[error("there is no rank {rank}: the run has ranks 0 to {}", size - 1)]
    InvalidRank {
        /// The rank asked for.
        rank: usize,
        /// How many ranks there are.
        size: usize,
    },
    /// A tag above the largest.
    #[error("tag {tag} is above the largest tag, {}", crate::Tag::MAX)]
    InvalidTag {
        /// The tag asked for.
        tag: u32,
    },
    /// A message longer than the buffer it was received into. The message is consumed; the buffer holds its beginning.
    #[error(
        "a message of {message_bytes} bytes from rank {from} with tag {tag} does not fit the receive buffer of {buffer_bytes} bytes"
    )]
    Truncated {
        /// Who sent it.
        from: usize,
        /// Its tag.
        tag: u32,
        /// Its length.
        message_bytes: usize,
        /// The room there was.
        buffer_bytes: usize,
    },
    /// Lengths that do not fit together, within one call or between the ranks of a collective.
    #[error("{collective}: {what} is {found_bytes} bytes where {expected_bytes} are expected")]
    UnequalCounts {
        /// The collective's name.
        collective: &'static str,
        /// Which buffer, or which rank's.
        what: String,
        /// The length that would fit.
        expected_bytes: usize,
        /// The length that was given.
        found_bytes: usize,
    },
    /// The ranks did not all call the same collective with the same root and operation.
    #[error("collectives do not match: {explanation}")]
    MismatchedCollective {
        /// Who called what.
        explanation: String,
    },
    /// A rank ended or was killed; every call that may depend on it fails.
    #[error("rank {rank} died ({how})")]
    RankDied {
        /// The dead rank.
        rank: usize,
        /// Its status or signal, as far as known.
        how: String,
    },
    /// The run was given up: another rank failed, or the user interrupted it.
    #[error("the run was given up: {why}")]
    Aborted {
        /// Who or what gave it up.
        why: String,
    },
    /// A wait that nothing can end. Simulated machines and the reference fabric find every circle of waiting ranks. Shared
    /// memory finds a blocking send to oneself without a posted receive, and a wait for any rank when all others have
    /// ended; TCP finds a wait for a message of one's own.
    #[error("deadlock: {explanation}")]
    Deadlock {
        /// Which rank waits for what.
        explanation: String,
    },
    /// Memory that could not be had.
    #[error("no memory for {what} ({bytes} bytes)")]
    OutOfMemory {
        /// What it was for.
        what: String,
        /// How much.
        bytes: u64,
    },
    /// An operation on memory that a member of a window does not have.
    #[error(
        "{bytes} bytes at offset {offset} do not lie in the window of rank {rank}, which has {window_bytes} bytes"
    )]
    OutOfWindow {
        /// The member, as a rank of the window.
        rank: usize,
        /// Where the bytes would begin.
        offset: u64,
        /// How many there would be.
        bytes: u64,
        /// How many there are.
        window_bytes: u64,
    },
    /// A posted operation that this rank does not know: finished before, or posted by another rank.
    #[error(
        "there is no posted operation with this handle: it was completed before, or belongs to another rank"
    )]
    UnknownRequest,
    /// Something that this fabric cannot do.
    #[error("{fabric} cannot {what}")]
    Unsupported {
        /// The fabric's name.
        fabric: String,
        /// What was asked.
        what: String,
    },
    /// A call to the operating system failed.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: String,
        /// The system's own words.
        reason: String,
    },
    /// The program of a rank found something wrong, such as a result that does not check.
    #[error("{0}")]
    Program(String),
}
