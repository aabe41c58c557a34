//! A rank's processor, and the pauses that its operating system makes.

use contract::{Time, TimeSpan};

use crate::machine::Machine;
use crate::random::Random;

/// Stream numbers of the processors' random numbers begin here.
const STREAM: u64 = 1 << 40;

/// When a processor has finished a piece of work, given when it begins.
pub(super) struct Processor {
    /// Period, length and the first beginning of each kind of pause.
    pauses: Vec<(u64, u64, u64)>,
}

impl Processor {
    /// The pauses of each rank begin at a moment of their own.
    pub(super) fn new(machine: &Machine, seed: u64, rank: u32) -> Self {
        let mut random = Random::new(seed, STREAM + u64::from(rank));
        let pauses = machine.pauses.iter().map(|pause| {
            let period = pause.period.as_ps();
            (period, pause.length.as_ps(), random.below(period))
        });
        Processor { pauses: pauses.collect() }
    }

    /// When work of `span` is done that begins at `start`. A pause that begins meanwhile puts the end off, which may let
    /// further pauses in; one that began before is over, since what began then was put off by it.
    pub(super) fn end(&self, start: Time, span: TimeSpan) -> Time {
        let mut end = start + span;
        if self.pauses.is_empty() {
            return end;
        }
        loop {
            let put_off: u64 =
                self.pauses.iter().map(|pause| length_of_pauses(pause, start, end)).sum();
            let next = start + span + TimeSpan::from_ps(put_off);
            if next == end {
                return end;
            }
            end = next;
        }
    }
}

/// The length of all pauses of a kind that begin after `start` and not after `end`.
fn length_of_pauses(&(period, length, first): &(u64, u64, u64), start: Time, end: Time) -> u64 {
    let begun = |time: Time| (time.as_ps() + period - first) / period;
    (begun(end) - begun(start)) * length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> TimeSpan {
        TimeSpan::from_us(us)
    }

    #[test]
    fn pauses_that_begin_meanwhile_put_the_end_off() {
        // Pauses of 3 µs at 5, 15, 25 µs.
        let processor = Processor { pauses: vec![(10_000_000, 3_000_000, 5_000_000)] };
        let at = |time| Time::ZERO + us(time);
        assert_eq!(processor.end(at(0), us(4)), at(4));
        // 0 to 5 work, 5 to 8 pause, 8 to 9 work.
        assert_eq!(processor.end(at(0), us(6)), at(9));
        // Without pauses it would end at 14; the pause at 5 puts it off to 17, past that at 15: 20.
        assert_eq!(processor.end(at(0), us(14)), at(20));
        // It began after the pause at 5.
        assert_eq!(processor.end(at(6), us(2)), at(8));
    }
}
