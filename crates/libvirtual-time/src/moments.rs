//! Moments and spans of the system's clocks in virtual time.

use libc::{c_long, clockid_t, time_t, timespec};

use crate::state;

const PS_PER_NS: u64 = 1000;
const PS_PER_S: u64 = 1_000_000_000_000;
/// Beginning of the calendar: 1 January 2000. The system's other clocks begin some time after zero, because some
/// programs take zero for "no time". Reports of programs count from there, too (`VIRTUAL_BEGINNING_NS` of cornerstone).
const CALENDAR_S: u64 = 946_684_800;
const OTHERS_S: u64 = 1000;

/// Returns the beginning of a clock in seconds, or `None` for one that is not virtual.
fn beginning_s(clock: clockid_t) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => Some(CALENDAR_S),
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => Some(OTHERS_S),
        _ => None,
    }
}

/// Returns the time of a clock in picoseconds since its zero, or `None` if time is real.
pub(crate) fn reading_ps(clock: clockid_t) -> Option<u128> {
    let beginning = u128::from(beginning_s(clock)?) * u128::from(PS_PER_S);
    Some(beginning + u128::from(state::now_ps()?))
}

/// Returns the virtual time at which a clock shows `time`, or `None` if `time` is invalid or the clock is not virtual.
pub(crate) fn moment_ps(clock: clockid_t, time: &timespec) -> Option<u64> {
    let beginning = u128::from(beginning_s(clock)?) * u128::from(PS_PER_S);
    Some(shortened(ps_of(time)?.saturating_sub(beginning)))
}

/// Returns the clock that a deadline of the program is meant for, if that may be the calendar or the monotonic clock.
/// They begin thirty years apart, longer than any simulation.
pub(crate) fn clock_of(deadline: &timespec) -> clockid_t {
    let is_calendar = u64::try_from(deadline.tv_sec).is_ok_and(|s| s >= CALENDAR_S);
    if is_calendar { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }
}

/// Returns the time of the system's clock, plus a span in picoseconds.
pub(crate) fn real_after(clock: clockid_t, span_ps: u64) -> timespec {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is live.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut now) };
    timespec_of(ps_of(&now).unwrap_or(0) + u128::from(span_ps))
}

/// Returns a time or a span for the C library.
pub(crate) fn timespec_of(ps: u128) -> timespec {
    timespec {
        tv_sec: (ps / u128::from(PS_PER_S)) as time_t,
        tv_nsec: (ps % u128::from(PS_PER_S) / u128::from(PS_PER_NS)) as c_long,
    }
}

/// Returns a span of the C library in picoseconds, or `None` if it is invalid.
pub(crate) fn ps_of(time: &timespec) -> Option<u128> {
    let is_valid = time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec);
    let ns = u128::from(time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u128;
    is_valid.then_some(ns * u128::from(PS_PER_NS))
}

/// Returns a span, limited to the range of virtual time.
pub(crate) fn shortened(ps: u128) -> u64 {
    u64::try_from(ps).unwrap_or(u64::MAX)
}
