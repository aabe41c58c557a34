//! Operations common to all fabrics over a real clock.

use std::time::Duration;

use crate::{Time, TimeSpan};

/// Distance below which a wait for a point in time reads the clock continuously: the system's timers are not more
/// precise than this.
const SPIN_PS: u64 = 200_000_000;
const PS_PER_NS: u64 = 1_000;
/// Number of readings in which a clock steps at least once, or by less than is detectable.
const READINGS: usize = 200;

/// Waits until `now` returns `time` or later, as precisely as a process can. A process that shares its processor with
/// others (`shares`) yields it between readings of the clock: they may have work while it has none.
pub fn wait_until(now: impl Fn() -> Time, time: Time, shares: bool) {
    loop {
        let left = time.signed_ps_since(now());
        if left <= 0 {
            return;
        }
        if left as u64 > SPIN_PS {
            std::thread::sleep(Duration::from_nanos((left as u64 - SPIN_PS) / PS_PER_NS));
        } else if shares {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Returns the smallest step of the clock that `now` reads, or `None` if it does not advance over many readings.
pub fn smallest_step(now: impl Fn() -> Time) -> Option<TimeSpan> {
    let mut last = now();
    let steps = (0..READINGS).filter_map(|_| {
        let before = std::mem::replace(&mut last, now());
        (last > before).then(|| last.since(before))
    });
    steps.min()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_smallest_step_is_found_and_a_stopped_clock_has_none() {
        // Steps of 30, 0, 70, 0, 30 ... ps.
        let (at, reading) = (Cell::new(0), Cell::new(0));
        let now = || {
            let step = [30, 0, 70, 0][reading.get() % 4];
            reading.set(reading.get() + 1);
            at.set(at.get() + step);
            Time::from_ps(at.get())
        };
        assert_eq!(smallest_step(now), Some(TimeSpan::from_ps(30)));
        assert_eq!(smallest_step(|| Time::ZERO), None);
    }

    #[test]
    fn a_wait_ends_when_the_clock_reaches_its_time() {
        let at = Cell::new(0);
        let now = || {
            at.set(at.get() + 10);
            Time::from_ps(at.get())
        };
        wait_until(now, Time::from_ps(35), false);
        assert_eq!(at.get(), 40);
        wait_until(now, Time::from_ps(65), true);
        assert_eq!(at.get(), 70);
    }
}
