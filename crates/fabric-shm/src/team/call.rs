//! A call, as all members of a team have to mean it.

/// What all members have to agree on.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) call_id: u32,
    /// The length of all that the call is about, or of each member's block.
    pub(super) bytes: usize,
    /// The number of its steps, at least one.
    pub(super) pieces: usize,
    /// How many pieces are put before the first is taken.
    pub(super) window: usize,
    /// Whether the parts are addresses. A member in another call cannot be in step then.
    pub(super) by_cma: bool,
}

/// The calls that this rank has made with the members.
#[derive(Clone, Copy, Default)]
pub(super) struct CallCounts {
    pub(super) over_boards: u32,
    pub(super) by_messages: u32,
    /// Whether the next call over boards was counted. Not every call is, and only those that were are published.
    pub(super) next_is_counted: bool,
    /// Whether the call under way was counted and published.
    pub(super) is_published: bool,
}
