//! Points in time and time spans, in integer picoseconds on every fabric.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// A point in time on the clock that the ranks of a run share, in picoseconds since an epoch of the fabric's choice.
///
/// 64 bits of picoseconds last 213 days, longer than any run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(u64);

/// A time span in picoseconds, never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TimeSpan(u64);

/// The accuracy of a fabric's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockQuality {
    /// Smallest step of `now()`.
    pub resolution: TimeSpan,
    /// Maximum difference between the clocks of two ranks; zero if they read one clock. A one-way time below this has
    /// no meaning.
    pub uncertainty: TimeSpan,
    /// True if time passes only as a simulation determines. The same program then takes the same time in each run.
    pub is_virtual: bool,
}

impl ClockQuality {
    /// The clock of a simulated machine.
    pub const VIRTUAL: ClockQuality =
        ClockQuality { resolution: TimeSpan(1), uncertainty: TimeSpan::ZERO, is_virtual: true };
}

impl Time {
    /// The epoch.
    pub const ZERO: Time = Time(0);

    /// Returns the point `ps` picoseconds after the epoch.
    pub const fn from_ps(ps: u64) -> Self {
        Time(ps)
    }

    /// Returns the picoseconds since the epoch.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the time passed since `earlier`, or zero if `earlier` is later, which the clocks of two hosts may cause.
    pub const fn since(self, earlier: Time) -> TimeSpan {
        TimeSpan(self.0.saturating_sub(earlier.0))
    }

    /// Returns the time passed since `other` in picoseconds, negative if `other` is later.
    pub const fn signed_ps_since(self, other: Time) -> i64 {
        self.0.wrapping_sub(other.0) as i64
    }
}

impl TimeSpan {
    /// The empty time span.
    pub const ZERO: TimeSpan = TimeSpan(0);

    /// Creates a span of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        TimeSpan(ps)
    }

    /// Creates a span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        TimeSpan(ns * PS_PER_NS)
    }

    /// Creates a span of `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        TimeSpan(us * PS_PER_US)
    }

    /// Creates a span of `s` seconds, rounded to the picosecond; zero if `s` is negative or not a number.
    pub fn from_s(s: f64) -> Self {
        TimeSpan((s * PS_PER_S as f64).round() as u64)
    }

    /// Returns the span in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the span in nanoseconds.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / PS_PER_NS as f64
    }

    /// Returns the span in microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / PS_PER_US as f64
    }

    /// Returns the span in seconds.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Returns a span `count` times as long.
    pub const fn times(self, count: u64) -> Self {
        TimeSpan(self.0.saturating_mul(count))
    }
}

impl Add<TimeSpan> for Time {
    type Output = Time;

    fn add(self, span: TimeSpan) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<TimeSpan> for Time {
    fn add_assign(&mut self, span: TimeSpan) {
        self.0 += span.0;
    }
}

impl Add for TimeSpan {
    type Output = TimeSpan;

    fn add(self, other: TimeSpan) -> TimeSpan {
        TimeSpan(self.0 + other.0)
    }
}

impl Sub for TimeSpan {
    type Output = TimeSpan;

    /// Returns the difference, or zero if `other` is longer.
    fn sub(self, other: TimeSpan) -> TimeSpan {
        TimeSpan(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_between_clocks_that_disagree_do_not_wrap() {
        let early = Time::from_ps(10);
        let late = Time::from_ps(25);
        assert_eq!(late.since(early), TimeSpan::from_ps(15));
        assert_eq!(early.since(late), TimeSpan::ZERO);
        assert_eq!(early.signed_ps_since(late), -15);
    }

    #[test]
    fn units_are_powers_of_a_thousand() {
        assert_eq!(TimeSpan::from_us(3), TimeSpan::from_ns(3_000));
        assert_eq!(TimeSpan::from_s(1e-6), TimeSpan::from_us(1));
        assert_eq!(TimeSpan::from_ns(1500).as_us(), 1.5);
        assert_eq!(TimeSpan::from_s(-1.0), TimeSpan::ZERO);
    }
}
