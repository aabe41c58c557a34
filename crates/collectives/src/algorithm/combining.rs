//! Common steps of reduce and allreduce: the fold to a power of two, and recursive halving.
//!
//! The operand of the lower member is always the left one, so the result does not depend on which of two members
//! combines them: another order could change the bits of floating-point sums, of zeros of both signs and of NaNs.

use std::ops::Range;

use crate::membership::{Fold, Folded};
use crate::{Message, Part, Schedule};

/// State of a reduction at one member.
pub(super) struct Combining {
    pub(super) schedule: Schedule,
    pub(super) fold: Fold,
    /// Partial result of this member.
    pub(super) vector: Part,
    /// Buffer for the other operand.
    operand: Part,
}

/// One step of recursive halving at one member.
pub(super) struct Halving {
    /// Number of the partner.
    pub(super) partner: usize,
    /// Units that stay at this member.
    pub(super) keep: Range<usize>,
    /// Units that the partner keeps.
    pub(super) away: Range<usize>,
}

impl Combining {
    /// Creates the state, with a copy of `input` in `vector`.
    pub(super) fn new(mut schedule: Schedule, fold: Fold, input: Part, vector: Part) -> Self {
        schedule.copy(input, vector);
        let operand = schedule.room(vector.length);
        Combining { schedule, fold, vector, operand }
    }

    /// Moves the operands of the members outside the core into the core. Returns this member's part.
    pub(super) fn gather_fold(&mut self) -> Folded {
        let own = self.fold.own();
        match own {
            Folded::Gives(to) => self.schedule.send(to, self.vector),
            Folded::Takes { from: Some(from), .. } => self.receive_and_combine(from),
            Folded::Takes { from: None, .. } => {}
        }
        own
    }

    /// Sends the result to the members outside the core.
    pub(super) fn spread_fold(&mut self) {
        match self.fold.own() {
            Folded::Gives(to) => self.schedule.receive(to, self.vector),
            Folded::Takes { from: Some(from), .. } => self.schedule.send(from, self.vector),
            Folded::Takes { from: None, .. } => {}
        }
    }

    /// Receives and combines the operand of a higher member.
    pub(super) fn receive_and_combine(&mut self, from: usize) {
        self.schedule.receive(from, self.operand);
        self.schedule.combine(self.vector, self.operand, true);
    }

    /// Sends the part `away` of the vector to a partner, and combines the received data with the part `keep`.
    pub(super) fn exchange_and_combine(
        &mut self,
        number: usize,
        partner: usize,
        away: Range<usize>,
        keep: Range<usize>,
    ) {
        let other = self.fold.member(partner);
        let operand = self.operand.within(0..keep.len());
        self.schedule
            .exchange(Message::new(other, self.vector.within(away)), Message::new(other, operand));
        self.schedule.combine(self.vector.within(keep), operand, number < partner);
    }

    /// Appends recursive halving over the core: step k pairs members whose numbers differ in bit k; the lower of the
    /// two keeps the lower half of their common range.
    pub(super) fn halve(&mut self, number: usize) -> Vec<Halving> {
        let mut steps = Vec::new();
        let mut common = 0..self.vector.length;
        for level in 0..self.fold.core.ilog2() {
            let middle = common.start + common.len() / 2;
            let (lower, upper) = (common.start..middle, middle..common.end);
            let partner = number ^ (1 << level);
            let (keep, away) = if number < partner { (lower, upper) } else { (upper, lower) };
            self.exchange_and_combine(number, partner, away.clone(), keep.clone());
            common = keep.clone();
            steps.push(Halving { partner, keep, away });
        }
        steps
    }
}
