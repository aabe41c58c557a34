//! What reduce and allreduce share: the fold to a power of two, and recursive halving.
//!
//! Ranks are told apart by their place, counted from the root. Whoever combines two operands takes the one from the
//! lower place first, so that it makes no difference at which of two ranks it is done: floating-point sums of other
//! orders, zeros of both signs and not-a-numbers would give other bits.

use std::ops::Range;

use super::call::Call;
use super::{after, before};
use crate::{Rank, Reduction, Result, Work, WorkKind};

/// A reduction under way at one rank.
pub(super) struct Combining {
    pub(super) call: Call,
    pub(super) reduction: Reduction,
    root: usize,
    size: usize,
    pub(super) place: usize,
    /// Room for the partner's operand.
    operand: Vec<u8>,
}

impl Combining {
    pub(super) fn new<R: Rank + ?Sized>(
        machine: &R,
        call: Call,
        reduction: Reduction,
        root: usize,
    ) -> Self {
        let size = machine.size();
        let place = before(machine.rank(), root, size);
        Combining { call, reduction, root, size, place, operand: Vec::new() }
    }

    pub(super) fn rank_at(&self, place: usize) -> usize {
        after(self.root, place, self.size)
    }

    /// The largest power of two that is at most the rank count: the places below it take part in the core of the
    /// algorithm, the others only give their operand at the beginning.
    pub(super) fn core(&self) -> usize {
        1 << self.size.ilog2()
    }

    /// Brings the operands of the places from `core()` on into the lower ones. True at places that go on.
    pub(super) fn fold<R: Rank + ?Sized>(
        &mut self,
        machine: &mut R,
        vector: &mut [u8],
    ) -> Result<bool> {
        let core = self.core();
        if self.place >= core {
            self.call.send(machine, self.rank_at(self.place - core), vector)?;
            return Ok(false);
        }
        if self.place + core < self.size {
            self.receive_and_combine(machine, self.place + core, vector)?;
        }
        Ok(true)
    }

    /// Receives an operand from a higher place and combines it into `vector`.
    pub(super) fn receive_and_combine<R: Rank + ?Sized>(
        &mut self,
        machine: &mut R,
        from_place: usize,
        vector: &mut [u8],
    ) -> Result<()> {
        self.operand.resize(vector.len(), 0);
        self.call.receive(machine, self.rank_at(from_place), &mut self.operand)?;
        self.combine(machine, from_place, vector)
    }

    /// Sends the part `away` of `vector` to a partner, and combines what it sends into the part `keep`.
    pub(super) fn exchange_and_combine<R: Rank + ?Sized>(
        &mut self,
        machine: &mut R,
        partner_place: usize,
        vector: &mut [u8],
        away: Range<usize>,
        keep: Range<usize>,
    ) -> Result<()> {
        let partner = self.rank_at(partner_place);
        self.operand.resize(keep.len(), 0);
        self.call.exchange(machine, (partner, &vector[away]), (partner, &mut self.operand))?;
        self.combine(machine, partner_place, &mut vector[keep])
    }

    /// The combination itself always takes place, whatever a simulated machine does with `compute`: its result may
    /// steer the program.
    fn combine<R: Rank + ?Sized>(
        &mut self,
        machine: &mut R,
        partner_place: usize,
        vector: &mut [u8],
    ) -> Result<()> {
        let elements = vector.len() / self.reduction.element.bytes();
        machine.compute(Work::new(WorkKind::Reduction, elements as u64), &mut || {});
        if partner_place > self.place {
            self.reduction.combine(vector, &self.operand)
        } else {
            self.reduction.combine(&mut self.operand, vector)?;
            vector.copy_from_slice(&self.operand);
            Ok(())
        }
    }

    /// Recursive halving over the core: step k is with the place that differs in bit k; the lower of the two keeps the
    /// lower half of what both have.
    pub(super) fn halve<R: Rank + ?Sized>(
        &mut self,
        machine: &mut R,
        vector: &mut [u8],
    ) -> Result<Vec<Halving>> {
        let mut steps = Vec::new();
        let mut common = 0..vector.len();
        for level in 0..self.core().ilog2() {
            let (lower, upper) = halves(&common, self.reduction.element.bytes());
            let partner = self.place ^ (1 << level);
            let (keep, away) = if self.place < partner { (lower, upper) } else { (upper, lower) };
            self.exchange_and_combine(machine, partner, vector, away.clone(), keep.clone())?;
            common = keep.clone();
            steps.push(Halving { partner, keep, away });
        }
        Ok(steps)
    }
}

/// A step of recursive halving, at one rank.
pub(super) struct Halving {
    /// The partner's place.
    pub(super) partner: usize,
    /// The bytes that stayed here.
    pub(super) keep: Range<usize>,
    /// The bytes that the partner keeps.
    pub(super) away: Range<usize>,
}

/// Both halves of a range, cut between elements.
fn halves(range: &Range<usize>, element_bytes: usize) -> (Range<usize>, Range<usize>) {
    let middle = range.start + range.len() / element_bytes / 2 * element_bytes;
    (range.start..middle, middle..range.end)
}
