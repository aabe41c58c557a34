//! Execution of a schedule by blocking calls.

use std::ops::Range;

use collectives::{
    Algorithm, Area, Call, CallId, Cursor, LocalStep, Manner, Membership, Own, Part, Schedule,
    select,
};

use super::messages::Messages;
use crate::{Error, Rank, Reduction, Result, Work, WorkKind};

/// The memory of a call.
pub(super) struct Memory<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    scratch: Vec<u8>,
    /// Holds a left operand that the result must not overwrite.
    left: Vec<u8>,
    unit_bytes: usize,
    reduction: Option<Reduction>,
}

impl<'a> Memory<'a> {
    /// Returns the memory of a collective that moves bytes.
    pub(super) fn of_bytes(input: &'a [u8], output: &'a mut [u8]) -> Self {
        let (scratch, left) = (Vec::new(), Vec::new());
        Memory { input, output, scratch, left, unit_bytes: 1, reduction: None }
    }

    /// Returns the memory of a collective that combines elements.
    pub(super) fn of_elements(reduction: Reduction, input: &'a [u8], output: &'a mut [u8]) -> Self {
        let unit_bytes = reduction.element.bytes();
        Memory { unit_bytes, reduction: Some(reduction), ..Memory::of_bytes(input, output) }
    }

    fn bytes(&self, part: Part) -> Range<usize> {
        let units = part.units();
        units.start * self.unit_bytes..units.end * self.unit_bytes
    }

    fn read(&self, part: Part) -> &[u8] {
        let bytes = self.bytes(part);
        match part.area {
            Area::Input => &self.input[bytes],
            Area::Output => &self.output[bytes],
            Area::Scratch => &self.scratch[bytes],
        }
    }

    fn write(&mut self, part: Part) -> &mut [u8] {
        let bytes = self.bytes(part);
        match part.area {
            Area::Input => unreachable!("no schedule writes to its input"),
            Area::Output => &mut self.output[bytes],
            Area::Scratch => &mut self.scratch[bytes],
        }
    }

    /// Returns a part to read and another to write, which do not overlap.
    fn read_and_write(&mut self, read: Part, write: Part) -> (&[u8], &mut [u8]) {
        let (from, to) = (self.bytes(read), self.bytes(write));
        match (read.area, write.area) {
            (Area::Input, Area::Output) => (&self.input[from], &mut self.output[to]),
            (Area::Input, _) => (&self.input[from], &mut self.scratch[to]),
            (Area::Output, Area::Scratch) => (&self.output[from], &mut self.scratch[to]),
            (Area::Scratch, Area::Output) => (&self.scratch[from], &mut self.output[to]),
            (Area::Output, _) => two_parts(self.output, from, to),
            (Area::Scratch, _) => two_parts(&mut self.scratch, from, to),
        }
    }

    /// Executes the local steps of a rank. A simulated machine is charged for copies and combinations. They are
    /// executed in any case, outside of the charge, because the program may depend on the results.
    fn steps<R: Rank + ?Sized>(&mut self, rank: &mut R, steps: &[LocalStep]) -> Result<()> {
        for alike in steps.chunk_by(|one, other| length_of_copy(one) == length_of_copy(other)) {
            match length_of_copy(&alike[0]) {
                Some(units) => {
                    let copy = Work::new(WorkKind::CopyBytes, (units * self.unit_bytes) as u64);
                    rank.compute(copy.repeated(alike.len() as u64), &mut || {});
                    alike.iter().for_each(|step| self.copy(step));
                }
                None => alike.iter().try_for_each(|step| self.combine(rank, step))?,
            }
        }
        Ok(())
    }

    fn copy(&mut self, step: &LocalStep) {
        let &LocalStep::Copy { from, to } = step else { return };
        let (from, to) = self.read_and_write(from, to);
        to.copy_from_slice(from);
    }

    fn combine<R: Rank + ?Sized>(&mut self, rank: &mut R, step: &LocalStep) -> Result<()> {
        let &LocalStep::Combine { into, with, into_is_left } = step else { return Ok(()) };
        rank.compute(Work::new(WorkKind::Reduction, into.length as u64), &mut || {});
        self.combine_parts(into, with, into_is_left)
    }

    /// Combines `with` and the operand `into`, whose place the result takes.
    fn combine_parts(&mut self, into: Part, with: Part, into_is_left: bool) -> Result<()> {
        let reduction = self.reduction.expect("only reductions combine");
        if into_is_left {
            let (right, left) = self.read_and_write(with, into);
            return reduction.combine(left, right);
        }
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        left.extend_from_slice(self.read(with));
        let right = self.write(into);
        let outcome = reduction.combine(&mut left, right);
        right.copy_from_slice(&left);
        self.left = left;
        outcome
    }
}

/// Returns the number of units that a step copies, or `None` if it combines.
fn length_of_copy(step: &LocalStep) -> Option<usize> {
    match step {
        LocalStep::Copy { from, .. } => Some(from.length),
        LocalStep::Combine { .. } => None,
    }
}

/// Returns two disjoint parts of one buffer, the second of them mutable.
fn two_parts(buffer: &mut [u8], read: Range<usize>, write: Range<usize>) -> (&[u8], &mut [u8]) {
    if read.end <= write.start {
        let (low, high) = buffer.split_at_mut(write.start);
        (&low[read], &mut high[..write.len()])
    } else {
        let (low, high) = buffer.split_at_mut(read.start);
        (&high[..read.len()], &mut low[write])
    }
}

/// Executes a call with an algorithm of the caller's choice or with the best suited one.
pub(super) fn run<R: Rank + ?Sized>(
    rank: &mut R,
    call: Call,
    own: Own,
    algorithm: Option<Algorithm>,
    mut memory: Memory<'_>,
) -> Result<()> {
    let group = Membership { me: rank.rank(), size: rank.size() };
    // The two-level algorithms of different collectives begin with different partners. Ranks in different calls would
    // exchange no message, and no rank would detect their mistake. So these algorithms are used only on request.
    let chosen = || select(&call, group.size, memory.unit_bytes, Manner::Blocking, None);
    let algorithm = algorithm.unwrap_or_else(chosen);
    if !call.is_served_by(algorithm) {
        let what = format!("do {} by {}", call.collective().name(), algorithm.name());
        return Err(Error::Unsupported { fabric: "a collective by messages".into(), what });
    }
    let id = CallId::rooted(call.collective(), call.root().unwrap_or(0)).by(algorithm);
    let id = memory.reduction.map_or(id, |reduction| id.combining(reduction.id()));
    let schedule = call.schedule(algorithm, group, own, rank.hosts());
    memory.scratch.resize(schedule.scratch() * memory.unit_bytes, 0);
    rank.mark_algorithm(true);
    let outcome = carry_out(rank, Messages::of(id), &schedule, &mut memory);
    rank.mark_algorithm(false);
    outcome
}

fn carry_out<R: Rank + ?Sized>(
    rank: &mut R,
    messages: Messages,
    schedule: &Schedule,
    memory: &mut Memory<'_>,
) -> Result<()> {
    let mut cursor = Cursor::default();
    while let Some(round) = schedule.next(&mut cursor) {
        memory.steps(rank, &round.before)?;
        // In sequence: every algorithm orders the messages of a round so that ranks do not wait in a circle.
        let both = round.sends.len().min(round.receives.len());
        for (send, receive) in round.sends.iter().zip(&round.receives) {
            let (data, room) = memory.read_and_write(send.part, receive.part);
            messages.exchange(rank, (send.rank, data), (receive.rank, room))?;
        }
        for send in &round.sends[both..] {
            messages.send(rank, send.rank, memory.read(send.part))?;
        }
        for receive in &round.receives[both..] {
            messages.receive(rank, receive.rank, memory.write(receive.part))?;
        }
    }
    memory.steps(rank, schedule.last_steps())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_of_a_buffer_in_either_order() {
        let mut buffer = [0, 1, 2, 3, 4, 5];
        let (read, write) = two_parts(&mut buffer, 4..6, 1..3);
        assert_eq!((read, &*write), (&[4, 5][..], &[1, 2][..]));
        let (read, write) = two_parts(&mut buffer, 0..0, 0..6);
        assert_eq!((read.len(), write.len()), (0, 6));
        let (read, write) = two_parts(&mut buffer, 0..6, 0..0);
        assert_eq!((read.len(), write.len()), (6, 0));
    }

    #[test]
    fn the_result_replaces_one_operand_whichever_is_the_left_one() {
        let reduction = Reduction::new(crate::Element::U8, crate::Operation::Maximum);
        let part = |area| Part::of(area, 0..2);
        for into_is_left in [true, false] {
            let mut output = [5, 5];
            let mut memory = Memory::of_elements(reduction, &[1, 9], &mut output);
            memory.combine_parts(part(Area::Output), part(Area::Input), into_is_left).unwrap();
            assert_eq!(output, [5, 9]);
        }
    }
}
