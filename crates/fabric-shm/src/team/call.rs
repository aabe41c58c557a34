//! A call, as all members of a team have to mean it.

use collectives::plan::Plan;

/// A call, and the way it goes.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) call_id: u32,
    pub(crate) plan: Plan,
}

/// What all members have to agree on.
#[derive(Clone, Copy)]
pub(super) struct Agreed {
    pub(super) call_id: u32,
    /// The length of all that the call is about, or of each member's block.
    pub(super) bytes: usize,
    /// Whether the call is one step whose parts are data. Members in different such calls are in step.
    pub(super) is_one_step: bool,
}

impl Agreed {
    #[inline(always)]
    pub(super) fn of(Call { call_id, plan }: &Call) -> Self {
        let is_one_step = plan.pieces.count() == 1 && !plan.goes_by_memory();
        Agreed { call_id: *call_id, bytes: plan.pieces.bytes, is_one_step }
    }
}

/// The calls that this rank has made with the members.
#[derive(Clone, Copy, Default)]
pub(super) struct CallCounts {
    pub(super) over_boards: u32,
    pub(super) by_messages: u32,
    /// Whether the next call over boards was counted. Not every call is, and only those that were are published.
    pub(super) next_is_counted: bool,
    /// The number of the call under way over boards, 0 if it was not counted.
    pub(super) under_way: u32,
    /// Whether the call under way was published.
    pub(super) is_published: bool,
}

impl CallCounts {
    /// The number of the call that was counted last, among the calls of both kinds: the same at all members.
    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        self.over_boards.wrapping_add(self.by_messages)
    }

    /// The number of the next call over boards, which begins or is started now; 0 if it was not counted.
    #[inline(always)]
    pub(super) fn take_number(&mut self) -> u32 {
        if std::mem::take(&mut self.next_is_counted) { self.number() } else { 0 }
    }
}
