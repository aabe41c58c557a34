//! Agreement of the members of a team on their calls, and the failure of a call on which they disagree.

use collectives::plan::THRESHOLDS;
use contract::{DescribeCall, Error};

use super::call::CallCounts;
use super::{CompiledCaller, Result, Team};
use crate::board::{SLOTS, has_reached};
use crate::engine::{describe, differ_in_length_only, mismatch, unequal_lengths};
use launcher::State;

/// The members for whose parts a rank waits.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    Nobody,
    One(usize),
    All,
}

/// Agreement of the members on the current call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    Yes,
    /// The members are in different calls with the same number of steps.
    InStep,
    OutOfStep,
}

pub(super) fn out_of_step() -> Error {
    let explanation =
        "the ranks did not agree about an earlier collective of this communicator".into();
    Error::MismatchedCollective { explanation }
}

impl Team {
    /// Decides from the outcome of a part of a call whether the call continues. After a failure with all in step, the
    /// steps continue.
    #[inline]
    pub(super) fn check_outcome<C: CompiledCaller>(
        &self,
        outcome: &Result<()>,
        caller: &mut C,
    ) -> Result<()> {
        match self.agreement {
            Agreement::InStep => Ok(()),
            Agreement::OutOfStep => {
                self.break_team(caller, self.counts.under_way);
                Ok(())
            }
            Agreement::Yes => outcome.clone(),
        }
    }

    /// Counts a call that is about to be made over boards, and publishes the count. A root that waits for nobody does
    /// so too, because others may wait for what it never sends.
    #[inline]
    pub(crate) fn count_call(&mut self) {
        self.counts.over_boards = self.counts.over_boards.wrapping_add(1);
        self.counts.next_is_counted = true;
        self.publish_history();
    }

    /// Counts a call that the members make by messages, and publishes its call id, which is the same at all of them.
    /// Returns the number of the call.
    pub(crate) fn count_call_by_messages(&mut self, call_id: u32) -> u32 {
        self.counts.by_messages = self.counts.by_messages.wrapping_add(1);
        let number = self.counts.number();
        self.board(self.me).recent_by_messages.publish(number, call_id);
        self.publish_history();
        number
    }

    /// Publishes the number of calls of this rank: a write to a line that others read only after a long wait.
    #[inline]
    fn publish_history(&self) {
        let CallCounts { over_boards, by_messages, .. } = self.counts;
        self.board(self.me).history.publish(over_boards, by_messages);
    }

    /// Finds a member that cannot have made the same calls as this rank: one of the two is in a call by messages and
    /// the other in one over boards.
    pub(super) fn find_contradicting(&self) -> Option<usize> {
        let CallCounts { over_boards, by_messages, .. } = self.counts;
        (0..self.size())
            .find(|&other| self.board(other).history.contradicts(over_boards, by_messages))
    }

    /// Finds a member whose call by messages with this number has another call id, which is returned too.
    fn find_differing(&self, number: u32, own: u32) -> Option<(usize, u32)> {
        let call_id = |other| self.board(other).recent_by_messages.call_id(number);
        (0..self.size())
            .filter_map(|other| Some((other, call_id(other)?)))
            .find(|&(_, theirs)| theirs != own)
    }

    /// Begins a call with this number, of which nothing is published yet: the last published call is an earlier one.
    #[inline]
    pub(super) fn forget_published_call(&mut self, number: u32) {
        (self.counts.under_way, self.counts.is_published) = (number, false);
    }

    /// Publishes the call that this rank is in, once it has put its first part: a reader of the call sees that part.
    #[inline]
    pub(super) fn publish_call(&mut self, call_id: u32) {
        let number = self.counts.under_way;
        self.counts.is_published = number != 0;
        if number != 0 {
            self.board(self.me).recent_over_boards.publish(number, call_id);
        }
    }

    /// Finds a member whose call over boards with the same number differs from this rank's. Lengths are compared with
    /// the parts.
    pub(super) fn find_in_other_call(&self) -> Option<usize> {
        let (own, number) = (self.call.call_id, self.counts.under_way);
        let call_id = |other| self.board(other).recent_over_boards.call_id(number);
        let members = if self.counts.is_published { self.size() } else { 0 };
        (0..members).find(|&other| {
            call_id(other).is_some_and(|call_id| !differ_in_length_only(call_id, own))
        })
    }

    /// Returns why the call by messages with this number can never complete, or `None` if it still can. The other
    /// members learn of it too.
    pub(crate) fn find_mismatch<C: CompiledCaller>(
        &self,
        caller: &mut C,
        number: u32,
        describe: DescribeCall<'_>,
    ) -> Option<Error> {
        let own = self.board(self.me).recent_by_messages.call_id(number);
        let differing = own.and_then(|own| self.find_differing(number, own));
        if self.board(0).broken.reaches(number) && differing.is_none() {
            return Some(out_of_step());
        }
        let theirs = differing.map(|(_, theirs)| describe(theirs));
        let other = differing.map(|(other, _)| other).or_else(|| self.find_contradicting())?;
        let [me, other] = [self.me, other].map(|one| caller.engine().name_of(self.members[one]));
        self.break_team(caller, number);
        let own = own.map(describe).unwrap_or_default();
        Some(Error::mismatched_calls((me, &own), (other, theirs.as_deref())))
    }

    /// Makes all members fail in call `number`, or in their current one if they have come further.
    #[cold]
    fn break_team<C: CompiledCaller>(&self, caller: &mut C, number: u32) {
        self.board(0).broken.set(number);
        self.wake_others(caller);
    }

    /// Returns the error of this call if a member is in another one, with `call_id` and `bytes`.
    #[cold]
    pub(super) fn mismatch<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        member: usize,
        call_id: u32,
        bytes: usize,
    ) -> Error {
        // Calls of one step each leave the members in step. A block for every member goes in one step up to that
        // length.
        let theirs_is_one_step = bytes <= THRESHOLDS.piece_bytes / self.size();
        let in_step = self.call.is_one_step && theirs_is_one_step;
        self.agreement = if in_step { Agreement::InStep } else { Agreement::OutOfStep };
        let [me, other] = [self.me, member].map(|one| caller.engine().name_of(self.members[one]));
        let (own, own_bytes) = (self.call.call_id, self.call.bytes);
        caller.on_mismatch(
            unequal_lengths(own, own_bytes, other, call_id, bytes)
                .unwrap_or_else(|| mismatch(me, own, other, call_id)),
        )
    }

    /// Returns the error of a call in which a member does not take part; `does` says what it does instead.
    pub(super) fn not_in_call<C: CompiledCaller>(
        &self,
        caller: &mut C,
        member: usize,
        does: &str,
    ) -> Error {
        let rank = caller.engine().name_of(self.members[member]);
        let call = describe(self.call.call_id);
        Error::MismatchedCollective { explanation: format!("rank {rank} {does} {call}") }
    }

    /// Returns the error of this call if a member makes another one. The other one has a name if it goes over boards, too.
    pub(super) fn in_other_call<C: CompiledCaller>(&self, caller: &mut C, member: usize) -> Error {
        let [me, other] = [self.me, member].map(|one| caller.engine().name_of(self.members[one]));
        let own = self.call.call_id;
        let theirs = self.board(member).recent_over_boards.call_id(self.counts.under_way);
        match theirs.filter(|&theirs| !differ_in_length_only(theirs, own)) {
            Some(theirs) => mismatch(me, own, other, theirs),
            None => {
                let own = describe(own);
                let explanation =
                    format!("rank {me} is in {own}, rank {other} in another collective");
                Error::MismatchedCollective { explanation }
            }
        }
    }

    /// Finds a member that is in another call in this step, or has ended the step without the awaited part.
    pub(super) fn find_out_of_step(&self, awaited: Awaited, epoch: u32) -> Option<usize> {
        let slot = epoch as usize % SLOTS;
        let is_out_of_step = |member: usize| {
            // In this order: a member puts its part before it ends the step.
            let ended = has_reached(self.board(member).progress.ended(), epoch);
            let header = &self.board(member).headers[slot];
            if header.holds(epoch) {
                return header.contents() != (self.call.call_id, self.call.bytes);
            }
            ended
        };
        match awaited {
            Awaited::Nobody => None,
            Awaited::One(member) => Some(member).filter(|&member| is_out_of_step(member)),
            Awaited::All => {
                (0..self.size()).find(|&member| member != self.me && is_out_of_step(member))
            }
        }
    }

    /// Finds a rank that has ended its program but not this step.
    pub(super) fn find_finished<C: CompiledCaller>(
        &self,
        caller: &mut C,
        epoch: u32,
    ) -> Option<usize> {
        let segment = caller.engine().segment();
        let is_finished = |member: usize| {
            let finished = segment.seat().state(self.members[member]) == State::Finished;
            finished && !has_reached(self.board(member).progress.ended(), epoch)
        };
        (0..self.size()).find(|&member| is_finished(member)).map(|member| self.members[member])
    }
}
