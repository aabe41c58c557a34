//! Agreement of the members of a team on their calls, and the failure of a call on which they disagree.

use collectives::plan::THRESHOLDS;
use collectives::{AgreedCall, CallId};
use contract::Error;

use super::call::CallCounts;
use super::{CompiledCaller, Result, Team};
use crate::board::{REMEMBERED, SLOTS, has_reached};
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
    let explanation = "an earlier collective of this communicator has failed because its ranks had made different calls, \
                       and none works there any more"
        .into();
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

    /// Counts a call that the members make by messages, and publishes it; it is the same at all of them. Returns its
    /// number.
    pub(crate) fn count_call_by_messages(&mut self, call: AgreedCall) -> u32 {
        self.counts.by_messages = self.counts.by_messages.wrapping_add(1);
        let number = self.counts.number();
        self.board(self.me).recent_by_messages.publish(number, call);
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

    /// Returns a member's call with this number, if it was published; calls that are not counted have number 0. The
    /// lengths of calls over boards lie beside their parts; `bytes` stands for them.
    fn call_of(&self, member: usize, number: u32, bytes: usize) -> Option<AgreedCall> {
        let board = Some(self.board(member)).filter(|_| number != 0)?;
        let over_boards = || board.recent_over_boards.call_id(number);
        let by_messages = board.recent_by_messages.call(number);
        by_messages.or_else(|| over_boards().map(|id| AgreedCall { id, bytes }))
    }

    /// Finds a member whose call with this number differs from this rank's. Returns the error.
    fn find_differing<C: CompiledCaller>(
        &self,
        caller: &mut C,
        number: u32,
        own: AgreedCall,
    ) -> Option<Error> {
        (0..self.size()).find_map(|member| {
            let theirs = self.call_of(member, number, own.bytes)?;
            if own == theirs {
                return None;
            }
            let [me, other] = self.names_of(caller, member);
            Error::of_calls((me, own), (other, theirs))
        })
    }

    /// Returns the error of the first of the kept calls in which a member differs, except in the length: `suspect` if
    /// that is one. A member that only receives in a call publishes nothing, but another may have published the same.
    fn differ_before<C: CompiledCaller>(&self, caller: &mut C, suspect: usize) -> Option<Error> {
        let (last, under_way) = (self.counts.number(), self.counts.under_way);
        let of = |member, number| Some(self.call_of(member, number, 0)?.id);
        let own = |number| match number == under_way && number != 0 {
            true => Some(self.call.call_id),
            false => of(self.me, number),
        };
        let differs = |age| {
            let number = last.wrapping_sub(age);
            let own = own(number)?;
            let differs = |&member: &usize| of(member, number).is_some_and(|theirs| theirs != own);
            let member = std::iter::once(suspect).chain(0..self.size()).find(differs)?;
            Some((own, member, of(member, number)?))
        };
        let (own, member, theirs) = (0..REMEMBERED as u32).rev().find_map(differs)?;
        let [me, other] = self.names_of(caller, member);
        Error::of_calls((me, own.into()), (other, theirs.into()))
    }

    /// Returns the ranks in messages to the user of this rank and of a member.
    fn names_of<C: CompiledCaller>(&self, caller: &mut C, member: usize) -> [usize; 2] {
        [self.me, member].map(|one| caller.rings().rank_at(self.members[one]))
    }

    /// Begins a call with this number, of which nothing is published yet: the last published call is an earlier one.
    #[inline]
    pub(super) fn forget_published_call(&mut self, number: u32) {
        (self.counts.under_way, self.counts.is_published) = (number, false);
    }

    /// Publishes the call that this rank is in, once it has put its first part: a reader of the call sees that part.
    #[inline]
    pub(super) fn publish_call(&mut self, call_id: CallId) {
        let number = self.counts.under_way;
        self.counts.is_published = number != 0;
        if number != 0 {
            self.board(self.me).recent_over_boards.publish(number, call_id);
        }
    }

    /// Finds a member whose call with the same number differs from this rank's, which goes over boards. Lengths are
    /// compared with the parts.
    pub(super) fn find_in_other_call(&self) -> Option<usize> {
        let (own, number) = (self.call.call_id, self.counts.under_way);
        let members = if self.counts.is_published { self.size() } else { 0 };
        (0..members).find(|&other| {
            self.call_of(other, number, self.call.bytes).is_some_and(|theirs| theirs.id != own)
        })
    }

    /// Returns why the call by messages with this number can never complete, or `None` if it still can. The other
    /// members learn of it too.
    pub(crate) fn find_mismatch<C: CompiledCaller>(
        &self,
        caller: &mut C,
        number: u32,
    ) -> Option<Error> {
        let own = self.board(self.me).recent_by_messages.call(number);
        let differing = own.and_then(|own| self.find_differing(caller, number, own));
        if self.board(0).broken.reaches(number) && differing.is_none() {
            return Some(out_of_step());
        }
        let error = differing.or_else(|| {
            let member = self.find_contradicting()?;
            let [me, other] = self.names_of(caller, member);
            let unknown = || own.map(|own| Error::of_unknown_call((me, own.id), other));
            Some(self.differ_before(caller, member).or_else(unknown).unwrap_or_else(out_of_step))
        })?;
        self.break_team(caller, number);
        Some(error)
    }

    /// Makes all members fail in call `number`, or in their current one if they have come further.
    #[cold]
    fn break_team<C: CompiledCaller>(&self, caller: &mut C, number: u32) {
        self.board(0).broken.set(number);
        self.wake_others(caller);
    }

    /// Returns the error of this call if a member is in another one, with this id and length.
    #[cold]
    pub(super) fn mismatch<C: CompiledCaller>(
        &mut self,
        caller: &mut C,
        member: usize,
        id: CallId,
        bytes: usize,
    ) -> Error {
        // Calls of one step each leave the members in step. A block for every member goes in one step up to that
        // length.
        let theirs_is_one_step = bytes <= THRESHOLDS.piece_bytes / self.size();
        let in_step = self.call.is_one_step && theirs_is_one_step;
        self.agreement = if in_step { Agreement::InStep } else { Agreement::OutOfStep };
        let [me, other] = self.names_of(caller, member);
        let own = AgreedCall { id: self.call.call_id, bytes: self.call.bytes };
        let error = Error::of_calls((me, own), (other, AgreedCall { id, bytes }));
        caller.on_mismatch(error.unwrap_or_else(out_of_step))
    }

    /// Returns the error of a call in which a member does not take part; `does` says what it does instead, if the two
    /// have made the same calls before.
    pub(super) fn not_in_call<C: CompiledCaller>(
        &self,
        caller: &mut C,
        member: usize,
        does: &str,
    ) -> Error {
        let [_, rank] = self.names_of(caller, member);
        let call = self.call.call_id;
        let explanation = format!("rank {rank} {does} {call}");
        self.differ_before(caller, member).unwrap_or(Error::MismatchedCollective { explanation })
    }

    /// Returns the error of this call if a member makes another one.
    pub(super) fn in_other_call<C: CompiledCaller>(&self, caller: &mut C, member: usize) -> Error {
        let [me, other] = self.names_of(caller, member);
        let own = AgreedCall { id: self.call.call_id, bytes: self.call.bytes };
        let theirs = self.call_of(member, self.counts.under_way, own.bytes);
        let error = theirs.and_then(|theirs| Error::of_calls((me, own), (other, theirs)));
        error
            .or_else(|| self.differ_before(caller, member))
            .unwrap_or_else(|| Error::of_unknown_call((me, own.id), other))
    }

    /// Returns the error of a call that fails because members are out of step since another.
    pub(super) fn after_another<C: CompiledCaller>(&self, caller: &mut C) -> Error {
        self.differ_before(caller, self.me).unwrap_or_else(out_of_step)
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
        let segment = caller.rings().segment();
        let is_finished = |member: usize| {
            let finished = segment.seat().state(self.members[member]) == State::Finished;
            finished && !has_reached(self.board(member).progress.ended(), epoch)
        };
        (0..self.size()).find(|&member| is_finished(member)).map(|member| self.members[member])
    }
}
