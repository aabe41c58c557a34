//! Isolation of a rank from the operating system.

/// A measure that keeps the operating system from delaying a rank, in addition to a [`Priority`](crate::Priority).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// The rank's pages are locked in memory, so that none is evicted and must be fetched again.
    LockedMemory,
    /// The rank stays on its processor. Most fabrics start ranks this way; otherwise the system may move them.
    Pinned,
}
