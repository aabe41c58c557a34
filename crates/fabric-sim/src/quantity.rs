//! Costs in integers: times in picoseconds, rates as femtoseconds for each byte or operation.

use contract::TimeSpan;

const FS_PER_PS: u128 = 1_000;
const FS_PER_US: f64 = 1e9;

/// Time of a byte (or an operation) in femtoseconds. The unit is so small that rounding changes a rate by less than a
/// millionth. It is an integer, so that every machine computes the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerUnit(u64);

/// Fixed time and time for each byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Time for each message or packet, of any length.
    pub fixed: TimeSpan,
    /// Time for each byte of it.
    pub per_byte: PerUnit,
}

/// Cost that is a straight line in each of several ranges of lengths: the cost of the range's first length, and the
/// cost of each byte beyond it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piecewise {
    /// First length of each piece in bytes, ascending from 0, and its line. Empty if there is no cost.
    pieces: Vec<(u64, Cost)>,
}

impl PerUnit {
    /// No time.
    pub const ZERO: PerUnit = PerUnit(0);

    /// Creates a time of `fs` femtoseconds a unit.
    pub const fn from_fs(fs: u64) -> Self {
        PerUnit(fs)
    }

    /// Creates a time of `us` microseconds a unit, rounded to the femtosecond.
    pub fn from_us(us: f64) -> Self {
        PerUnit((us * FS_PER_US).round() as u64)
    }

    /// Creates the time of a unit at `rate` units a microsecond (MB/s, or millions of operations a second).
    pub fn from_rate_per_us(rate: f64) -> Self {
        PerUnit((FS_PER_US / rate).round() as u64)
    }

    /// Returns the time of a unit in femtoseconds.
    pub const fn as_fs(self) -> u64 {
        self.0
    }

    /// Returns the units in a microsecond: MB/s for bytes. Infinite if a unit takes no time.
    pub fn rate_per_us(self) -> f64 {
        FS_PER_US / self.0 as f64
    }

    /// Returns the time of `amount` units, rounded to the picosecond.
    pub const fn times(self, amount: u64) -> TimeSpan {
        // Most amounts are small, and 128-bit division is slow.
        if let Some(fs) = self.0.checked_mul(amount) {
            return TimeSpan::from_ps(fs.saturating_add(500) / 1_000);
        }
        TimeSpan::from_ps(((self.0 as u128 * amount as u128 + FS_PER_PS / 2) / FS_PER_PS) as u64)
    }
}

impl Cost {
    /// Returns the cost of `bytes` bytes.
    pub fn of(self, bytes: u64) -> TimeSpan {
        self.fixed + self.per_byte.times(bytes)
    }

    /// Returns whether the cost is zero at every length.
    pub fn is_zero(self) -> bool {
        self == Cost::default()
    }
}

impl Piecewise {
    /// Creates a cost with the same line at every length.
    pub fn line(cost: Cost) -> Self {
        Piecewise { pieces: vec![(0, cost)] }
    }

    /// Creates a cost with lines from these lengths on. Returns `None` unless the first length is 0 and the others
    /// ascend.
    pub fn new(pieces: Vec<(u64, Cost)>) -> Option<Self> {
        let ascending = pieces.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let from_zero = pieces.first().is_none_or(|piece| piece.0 == 0);
        (ascending && from_zero).then_some(Piecewise { pieces })
    }

    /// Returns the cost of `bytes` bytes.
    pub fn of(&self, bytes: u64) -> TimeSpan {
        let piece = self.pieces.iter().rev().find(|(from, _)| *from <= bytes);
        piece.map_or(TimeSpan::ZERO, |(from, cost)| cost.of(bytes - from))
    }

    /// Returns the pieces: the first length of each in bytes, and its line.
    pub fn pieces(&self) -> &[(u64, Cost)] {
        &self.pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_its_time_agree() {
        // 40 MB/s are 25 ns a byte; 2048 bytes are 51.2 µs.
        let link = PerUnit::from_rate_per_us(40.0);
        assert_eq!(link.as_fs(), 25_000_000);
        assert_eq!(link.times(2048), TimeSpan::from_ns(51_200));
        assert_eq!(link.rate_per_us(), 40.0);
    }

    #[test]
    fn long_amounts_do_not_overflow() {
        // 10 µs a unit, 10^10 units: 10^17 ps, which in femtoseconds is above 2^64.
        assert_eq!(PerUnit::from_us(10.0).times(10_000_000_000).as_ps(), 100_000_000_000_000_000);
    }

    #[test]
    fn the_piece_that_a_length_lies_in_counts() {
        let line = |us| Cost { fixed: TimeSpan::from_us(us), per_byte: PerUnit::from_us(1.0) };
        let cost = Piecewise::new(vec![(0, line(10)), (100, line(50))]).unwrap();
        assert_eq!(cost.of(99), TimeSpan::from_us(109));
        assert_eq!(cost.of(100), TimeSpan::from_us(50));
        assert_eq!(cost.of(103), TimeSpan::from_us(53));
        assert!(Piecewise::new(vec![(5, line(1))]).is_none());
    }
}
