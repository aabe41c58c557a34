//! What the members of a team have to agree on, and what becomes of a call about which they do not.

use contract::{Error, Result};

use super::{Host, PIECE_BYTES, Team};
use crate::board::{SLOTS, has_come};
use crate::engine::{mismatch, unequal_lengths};
use crate::segment::State;

/// Whose parts a rank waits for.
#[derive(Clone, Copy)]
pub(super) enum Whom {
    Nobody,
    One(usize),
    All,
}

/// What all members have to agree on.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) mark: u32,
    /// The length of all that the call is about, or of each member's block.
    pub(super) bytes: usize,
    /// In how many steps that goes, at least one.
    pub(super) pieces: usize,
}

/// Whether the members are in the same call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Yes,
    /// They are not, but each goes as many steps.
    InStep,
    OutOfStep,
}

pub(super) fn out_of_step() -> Error {
    let explanation =
        "the ranks did not agree about an earlier collective of this communicator".into();
    Error::MismatchedCollective { explanation }
}

impl Team {
    /// What follows from a part of a call: if it failed and all are in step, that the steps go on.
    #[inline]
    pub(super) fn look_at<H: Host>(&self, outcome: &Result<()>, host: &mut H) -> Result<()> {
        match self.agreement {
            Agreement::InStep => Ok(()),
            Agreement::OutOfStep => {
                self.break_off(host);
                Ok(())
            }
            Agreement::Yes => outcome.clone(),
        }
    }

    /// Makes all members fail in this call or their next one.
    #[cold]
    pub(super) fn break_off<H: Host>(&self, host: &mut H) {
        self.board(0).broken.set();
        self.wake_others(host);
    }

    /// A member is in another call than this rank.
    #[cold]
    pub(super) fn disagree<H: Host>(
        &mut self,
        host: &mut H,
        member: usize,
        mark: u32,
        bytes: usize,
    ) -> Error {
        // Calls of one step each leave the members in step. A block for every member goes in one step up to that length.
        let one_step = bytes <= PIECE_BYTES / self.size();
        let in_step = self.call.pieces == 1 && one_step;
        self.agreement = if in_step { Agreement::InStep } else { Agreement::OutOfStep };
        let (me, other) = (self.members[self.me], self.members[member]);
        let (own, own_bytes) = (self.call.mark, self.call.bytes);
        host.disagree(
            unequal_lengths(own, own_bytes, other, mark, bytes)
                .unwrap_or_else(|| mismatch(me, own, other, mark)),
        )
    }

    /// A member that is in another call in this step, or has ended it without the part that is waited for.
    pub(super) fn astray(&self, whom: Whom, number: u32) -> Option<usize> {
        let slot = number as usize % SLOTS;
        let astray = |member: usize| {
            // In this order: a member puts its part before it ends the step.
            let ended = has_come(self.board(member).progress.ended(), number);
            let head = &self.board(member).heads[slot];
            if head.holds(number) {
                return head.contents() != (self.call.mark, self.call.bytes);
            }
            ended
        };
        match whom {
            Whom::Nobody => None,
            Whom::One(member) => Some(member).filter(|&member| astray(member)),
            Whom::All => (0..self.size()).find(|&member| member != self.me && astray(member)),
        }
    }

    /// A rank that has ended its program and not step `number`.
    pub(super) fn gone_before<H: Host>(&self, host: &mut H, number: u32) -> Option<usize> {
        let segment = host.engine().segment();
        let gone = |member: usize| {
            let ended = segment.block(self.members[member]).state() == State::Finished;
            ended && !has_come(self.board(member).progress.ended(), number)
        };
        (0..self.size()).find(|&member| gone(member)).map(|member| self.members[member])
    }
}
