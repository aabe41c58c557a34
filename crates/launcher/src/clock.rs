//! The clock that all ranks share: the processor's time-stamp counter if the kernel uses it as its own clock, otherwise
//! the system's monotonic clock. The launcher measures the counter's rate once, and every rank uses that rate.

use contract::{ClockQuality, Time, TimeSpan};

const PS_PER_NS: u64 = 1000;
/// Duration of the comparison of the counter with the system's clock. Each end is known to about 30 ns, so the rate is
/// accurate to about 10 parts in a million.
const CALIBRATION_NS: u64 = 4_000_000;

/// Parameters by which all ranks read the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockParameters {
    /// True if the processor's counter is read; otherwise the system's monotonic clock, in nanoseconds.
    pub(crate) counter: bool,
    /// Reading of the counter at time zero.
    pub(crate) epoch: u64,
    /// Picoseconds per tick, times 2^32.
    pub(crate) ps_per_tick_scaled: u64,
    /// Smallest step between two readings.
    pub(crate) resolution_ps: u64,
}

/// Reads the shared time.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    parameters: ClockParameters,
}

/// A calibration in progress. It begins before the ranks are started and ends when they are, so it costs no time.
pub(crate) struct Calibration {
    counter: bool,
    ticks: u64,
    ns: u64,
}

impl RunClock {
    pub(crate) fn new(parameters: ClockParameters) -> Self {
        RunClock { parameters }
    }

    /// Returns the time since the run was launched.
    #[inline]
    pub fn now(&self) -> Time {
        let clock = &self.parameters;
        let reading = if clock.counter { counter::read() } else { monotonic_ns() };
        let ticks = reading.wrapping_sub(clock.epoch);
        let scaled = u128::from(ticks) * u128::from(clock.ps_per_tick_scaled);
        Time::from_ps((scaled >> 32) as u64)
    }

    /// Returns the quality of a common clock: the kernel checks at its start that the processors' counters agree, and
    /// does not use them as its clock source otherwise.
    pub fn quality(&self) -> ClockQuality {
        ClockQuality {
            resolution: TimeSpan::from_ps(self.parameters.resolution_ps),
            uncertainty: TimeSpan::ZERO,
            is_virtual: false,
        }
    }

    /// Returns the name of the clock for the record of a run.
    pub fn name(&self) -> &'static str {
        if self.parameters.counter { "time-stamp counter" } else { "CLOCK_MONOTONIC" }
    }
}

impl Calibration {
    pub(crate) fn begin() -> Self {
        let counter = counter::is_trusted();
        let (ticks, ns) = if counter { bracketed() } else { (0, monotonic_ns()) };
        Calibration { counter, ticks, ns }
    }

    /// Returns the parameters of the system's clock, which needs no calibration: for a process that must start at once.
    pub(crate) fn without() -> ClockParameters {
        Calibration { counter: false, ticks: 0, ns: monotonic_ns() }.finish()
    }

    /// Waits until the measurement is long enough, and returns the result.
    pub(crate) fn finish(self) -> ClockParameters {
        if !self.counter {
            let mut clock = ClockParameters {
                counter: false,
                epoch: self.ns,
                ps_per_tick_scaled: PS_PER_NS << 32,
                resolution_ps: 0,
            };
            clock.resolution_ps = smallest_step(clock);
            return clock;
        }
        let passed = monotonic_ns() - self.ns;
        if passed < CALIBRATION_NS {
            std::thread::sleep(std::time::Duration::from_nanos(CALIBRATION_NS - passed));
        }
        let (ticks, ns) = bracketed();
        let ps = u128::from(ns - self.ns) * u128::from(PS_PER_NS);
        let mut clock = ClockParameters {
            counter: true,
            epoch: self.ticks,
            ps_per_tick_scaled: ((ps << 32) / u128::from((ticks - self.ticks).max(1))) as u64,
            resolution_ps: 0,
        };
        clock.resolution_ps = smallest_step(clock);
        clock
    }
}

/// Reads the counter and the system's clock at the same moment. Of several readings of one clock between two of the
/// other it returns the tightest.
fn bracketed() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..20 {
        let before = counter::read();
        let ns = monotonic_ns();
        let after = counter::read();
        let width = after.wrapping_sub(before);
        if width < best.0 {
            best = (width, before.wrapping_add(width / 2), ns);
        }
    }
    (best.1, best.2)
}

fn smallest_step(parameters: ClockParameters) -> u64 {
    let clock = RunClock::new(parameters);
    contract::smallest_step(|| clock.now()).map_or(u64::MAX, TimeSpan::as_ps)
}

/// Returns a count that rises by one to four in a nanosecond: for durations of which only the order of magnitude
/// counts. It may not be comparable between processors.
#[inline]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction exists on every x86-64 processor.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return 3 * monotonic_ns();
}

/// Returns the system's monotonic clock in nanoseconds.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; this clock always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};

    /// Returns whether the kernel uses this counter as its clock source. It does so only if the counter runs at a
    /// constant rate, never stops, and agrees between processors.
    pub(super) fn is_trusted() -> bool {
        let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc")
    }

    /// Reads the counter after all earlier instructions have completed.
    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: both instructions exist on every x86-64 processor.
        unsafe {
            _mm_lfence();
            _rdtsc()
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub(super) fn is_trusted() -> bool {
        false
    }

    pub(super) fn read() -> u64 {
        super::monotonic_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_runs_backwards_and_keeps_pace_with_the_system() {
        let clock = RunClock::new(Calibration::begin().finish());
        let (start, start_ns) = (clock.now(), monotonic_ns());
        let mut last = start;
        while monotonic_ns() - start_ns < 20_000_000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        let ratio = clock.now().since(start).as_ns() / (monotonic_ns() - start_ns) as f64;
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }
}
