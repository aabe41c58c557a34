//! A collective call, on which all members of a team must agree.

use collectives::CallId;
use collectives::plan::Plan;

/// A call and its plan.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) call_id: CallId,
    pub(crate) plan: Plan,
}

/// The properties of a call on which all members must agree.
#[derive(Clone, Copy)]
pub(super) struct Agreed {
    pub(super) call_id: CallId,
    /// Length of all data of the call, or of each member's block.
    pub(super) bytes: usize,
    /// True if the call is one step whose parts are data. Members in different calls of this kind are in step.
    pub(super) is_one_step: bool,
}

impl Agreed {
    #[inline(always)]
    pub(super) fn of(Call { call_id, plan }: &Call) -> Self {
        let is_one_step = plan.pieces.count() == 1 && !plan.goes_by_memory();
        Agreed { call_id: *call_id, bytes: plan.pieces.bytes, is_one_step }
    }
}

/// Numbers of the calls that this rank has made with the members.
#[derive(Clone, Copy, Default)]
pub(super) struct CallCounts {
    pub(super) over_boards: u32,
    pub(super) by_messages: u32,
    /// True if the next call over boards was counted. Not every call is, and only counted calls are published.
    pub(super) next_is_counted: bool,
    /// Number of the current call over boards, 0 if it was not counted.
    pub(super) under_way: u32,
    /// True if the current call was published.
    pub(super) is_published: bool,
}

impl CallCounts {
    /// Returns the number of the last counted call among the calls of both kinds: the same at all members.
    #[inline(always)]
    pub(super) fn number(&self) -> u32 {
        self.over_boards.wrapping_add(self.by_messages)
    }

    /// Returns the number of the next call over boards, which begins or is started now; 0 if it was not counted.
    #[inline(always)]
    pub(super) fn take_number(&mut self) -> u32 {
        if std::mem::take(&mut self.next_is_counted) { self.number() } else { 0 }
    }
}
