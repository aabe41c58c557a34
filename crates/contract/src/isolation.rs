//! What keeps the operating system away from a rank.

/// A way to keep the operating system from getting between a rank and its deadlines, besides a
/// [`Priority`](crate::Priority).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// The rank's memory stays in memory: no page of it is taken away, to be fetched when it is needed.
    LockedMemory,
    /// The rank stays on its processor. Most fabrics start ranks so; without it the system may move them.
    Pinned,
}
