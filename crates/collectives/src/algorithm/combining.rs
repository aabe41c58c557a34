//! What reduce and allreduce share: the fold to a power of two, and recursive halving.
//!
//! Whoever combines two operands takes that of the lower member first, so that it makes no difference at which of two
//! members it is done: floating-point sums of other orders, zeros of both signs and not-a-numbers would give other bits.

use std::ops::Range;

use crate::membership::{Fold, Folded};
use crate::{Message, Part, Schedule};

/// A reduction under way at one member.
pub(super) struct Combining {
    pub(super) schedule: Schedule,
    pub(super) fold: Fold,
    /// What this member has so far.
    pub(super) vector: Part,
    /// Room for the other operand.
    operand: Part,
}

/// A step of recursive halving, at one member.
pub(super) struct Halving {
    /// The partner's number.
    pub(super) partner: usize,
    /// The units that stayed here.
    pub(super) keep: Range<usize>,
    /// The units that the partner keeps.
    pub(super) away: Range<usize>,
}

impl Combining {
    /// Begins with a copy of `input` in `vector`.
    pub(super) fn new(mut schedule: Schedule, fold: Fold, input: Part, vector: Part) -> Self {
        schedule.copy(input, vector);
        let operand = schedule.room(vector.length);
        Combining { schedule, fold, vector, operand }
    }

    /// The operands of the members beyond the core come to those of it. Tells this member's part.
    pub(super) fn gather_fold(&mut self) -> Folded {
        let own = self.fold.own();
        match own {
            Folded::Gives(to) => self.schedule.send(to, self.vector),
            Folded::Takes { from: Some(from), .. } => self.receive_and_combine(from),
            Folded::Takes { from: None, .. } => {}
        }
        own
    }

    /// The members beyond the core get the result.
    pub(super) fn spread_fold(&mut self) {
        match self.fold.own() {
            Folded::Gives(to) => self.schedule.receive(to, self.vector),
            Folded::Takes { from: Some(from), .. } => self.schedule.send(from, self.vector),
            Folded::Takes { from: None, .. } => {}
        }
    }

    /// Receives the operand of a higher member.
    pub(super) fn receive_and_combine(&mut self, from: usize) {
        self.schedule.receive(from, self.operand);
        self.schedule.combine(self.vector, self.operand, true);
    }

    /// Sends the part `away` of the vector to a partner, and combines what it sends into the part `keep`.
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

    /// Recursive halving over the core: step k is with the member whose number differs in bit k; the lower of the two
    /// keeps the lower half of what both have.
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
