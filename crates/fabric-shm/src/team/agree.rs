//! What the members of a team have to agree on, and what becomes of a call about which they do not.

use contract::{Error, Result};

use super::{Host, PIECE_BYTES, Team};
use crate::board::{SLOTS, has_reached};
use crate::engine::{describe, differ_in_length_only, mismatch, unequal_lengths};
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
    pub(super) call_id: u32,
    /// The length of all that the call is about, or of each member's block.
    pub(super) bytes: usize,
    /// In how many steps that goes, at least one.
    pub(super) pieces: usize,
    /// How many of these are put before the first is taken.
    pub(super) window: usize,
    /// Whether the parts are addresses: then another member that means another call cannot be in step.
    pub(super) direct: bool,
}

/// Whether the members are in the same call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Yes,
    /// They are not, but each goes as many steps.
    InStep,
    OutOfStep,
}

/// The calls that this rank has made with the members: through the team, and past it, by messages.
#[derive(Clone, Copy, Default)]
pub(super) struct Made {
    through: u32,
    past: u32,
    /// The call that comes was counted: not all are, and of the others nobody tells.
    counted: bool,
    /// The call under way was counted, and told to the others.
    told: bool,
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

    /// Counts a call that is about to be made through the team, and tells the others: also the root that waits for nobody, for
    /// others may wait for what it never sends.
    #[inline]
    pub(crate) fn count_call(&mut self) {
        self.made.through = self.made.through.wrapping_add(1);
        self.made.counted = true;
        self.tell();
    }

    /// Counts a call that the members make among them by messages, and says what it is: the same `call_id` at all of them.
    /// Gives its number.
    pub(crate) fn count_call_by_messages(&mut self, call_id: u32) -> u32 {
        self.made.past = self.made.past.wrapping_add(1);
        self.board(self.me).recent_by_messages.publish(self.made.past, call_id);
        self.tell();
        self.made.past
    }

    /// Says how far this rank has come: a write to a line that nobody else looks at before it has waited for long.
    #[inline]
    fn tell(&self) {
        self.board(self.me).history.publish(self.made.through, self.made.past);
    }

    /// A member that cannot have made the same calls as this rank: it is in a call by messages and this rank in one
    /// through the team, or the other way round.
    pub(super) fn contradicting(&self) -> Option<usize> {
        let Made { through, past, .. } = self.made;
        (0..self.size()).find(|&other| self.board(other).history.contradicts(through, past))
    }

    /// A member whose call by messages of this number was another than this rank's.
    fn differing(&self, number: u32) -> Option<usize> {
        let own = self.board(self.me).recent_by_messages.call_id(number)?;
        let differs = |call_id: u32| call_id != own;
        let call_id = |other| self.board(other).recent_by_messages.call_id(number);
        (0..self.size()).find(|&other| call_id(other).is_some_and(differs))
    }

    /// Says which call this rank is in, once it has put what it puts first: whoever sees this first sees that part.
    #[inline]
    pub(super) fn tell_call(&mut self, call_id: u32) {
        self.made.told = std::mem::take(&mut self.made.counted);
        if self.made.told {
            self.board(self.me).recent_over_boards.publish(self.made.through, call_id);
        }
    }

    /// A member whose call through the team of the same number is another than this rank's. Lengths show in the parts.
    pub(super) fn elsewhere(&self) -> Option<usize> {
        let (own, number) = (self.call.call_id, self.made.through);
        let call_id = |other| self.board(other).recent_over_boards.call_id(number);
        (0..if self.made.told { self.size() } else { 0 }).find(|&other| {
            call_id(other).is_some_and(|call_id| !differ_in_length_only(call_id, own))
        })
    }

    /// For a rank that waits in the call by messages of this number: why it waits in vain, if it does. The other members learn
    /// of it too.
    pub(crate) fn look_beside<H: Host>(&self, host: &mut H, number: u32) -> Option<Error> {
        if self.board(0).broken.is_set() {
            return Some(out_of_step());
        }
        let rank = self.members[self.contradicting().or_else(|| self.differing(number))?];
        self.break_off(host);
        let explanation = format!(
            "rank {rank} has made other collectives of this communicator, or in another order"
        );
        Some(Error::MismatchedCollective { explanation })
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
        call_id: u32,
        bytes: usize,
    ) -> Error {
        // Calls of one step each leave the members in step. A block for every member goes in one step up to that length.
        let one_step = bytes <= PIECE_BYTES / self.size();
        let in_step = self.call.pieces == 1 && !self.call.direct && one_step;
        self.agreement = if in_step { Agreement::InStep } else { Agreement::OutOfStep };
        let (me, other) = (self.members[self.me], self.members[member]);
        let (own, own_bytes) = (self.call.call_id, self.call.bytes);
        host.disagree(
            unequal_lengths(own, own_bytes, other, call_id, bytes)
                .unwrap_or_else(|| mismatch(me, own, other, call_id)),
        )
    }

    /// The error of a call that a member does not take part in.
    pub(super) fn without(&self, member: usize, does: &str) -> Error {
        let (rank, call) = (self.members[member], describe(self.call.call_id));
        Error::MismatchedCollective { explanation: format!("rank {rank} {does} {call}") }
    }

    /// A member that is in another call in this step, or has ended it without the part that is waited for.
    pub(super) fn astray(&self, whom: Whom, epoch: u32) -> Option<usize> {
        let slot = epoch as usize % SLOTS;
        let astray = |member: usize| {
            // In this order: a member puts its part before it ends the step.
            let ended = has_reached(self.board(member).progress.ended(), epoch);
            let header = &self.board(member).headers[slot];
            if header.holds(epoch) {
                return header.contents() != (self.call.call_id, self.call.bytes);
            }
            ended
        };
        match whom {
            Whom::Nobody => None,
            Whom::One(member) => Some(member).filter(|&member| astray(member)),
            Whom::All => (0..self.size()).find(|&member| member != self.me && astray(member)),
        }
    }

    /// A rank that has ended its program and not step `epoch`.
    pub(super) fn gone_before<H: Host>(&self, host: &mut H, epoch: u32) -> Option<usize> {
        let segment = host.engine().segment();
        let gone = |member: usize| {
            let ended = segment.block(self.members[member]).state() == State::Finished;
            ended && !has_reached(self.board(member).progress.ended(), epoch)
        };
        (0..self.size()).find(|&member| gone(member)).map(|member| self.members[member])
    }
}
