//! Clocks and sleeps: functions with the names and types of the C library's.

use libc::{c_int, c_long, c_uint, c_void, clockid_t, time_t, timespec, timeval, useconds_t};

use crate::moments::{moment_ps, ps_of, reading_ps, shortened, timespec_of};
use crate::state::{self, Functions};

/// Sets the source of virtual time, or removes it if `functions` is null. Returns the picoseconds that the program has
/// slept so far without a source.
///
/// # Safety
/// The functions must stay valid until they are removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cornerstone_set_virtual_clock(functions: *const Functions) -> u64 {
    state::set(functions)
}

/// Returns whether time is virtual in this process.
#[unsafe(no_mangle)]
pub extern "C" fn cornerstone_has_virtual_clock() -> bool {
    state::is_virtual()
}

/// Records that the program enters or leaves a library that observes its calls. What the library does between the two
/// takes no virtual time, if it is short.
#[unsafe(no_mangle)]
pub extern "C" fn cornerstone_note_library(enters: bool) {
    state::note_library(enters);
}

/// Sleeps for a span of virtual time. Returns false if time is real.
fn sleep_for(ps: u128) -> bool {
    let Some(now) = state::now_ps() else { return false };
    state::sleep_until(now.saturating_add(shortened(ps)));
    true
}

/// Implements `clock_gettime` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    match reading_ps(clock) {
        Some(ps) if !time.is_null() => {
            // SAFETY: the caller promises a place.
            unsafe { time.write(timespec_of(ps)) };
            0
        }
        // SAFETY: as the caller has promised.
        _ => unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) as c_int },
    }
}

/// Implements `gettimeofday` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    match reading_ps(libc::CLOCK_REALTIME) {
        Some(ps) if !time.is_null() => {
            let timespec { tv_sec, tv_nsec } = timespec_of(ps);
            // SAFETY: the caller promises a place.
            unsafe { time.write(timeval { tv_sec, tv_usec: tv_nsec / 1000 }) };
            0
        }
        // SAFETY: as the caller has promised.
        _ => unsafe { libc::syscall(libc::SYS_gettimeofday, time, zone) as c_int },
    }
}

/// Implements `time` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(place: *mut time_t) -> time_t {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is live.
    unsafe { clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    if !place.is_null() {
        // SAFETY: the caller promises a place if it is not null.
        unsafe { place.write(now.tv_sec) };
    }
    now.tv_sec
}

/// Implements `clock_nanosleep` of POSIX. A sleep in virtual time is never interrupted.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    // SAFETY: the caller promises a time, or null, which the system refuses.
    let given = unsafe { time.as_ref() };
    let (span, moment) = (given.and_then(ps_of), given.and_then(|time| moment_ps(clock, time)));
    if let (Some(ps), Some(moment)) = (span, moment) {
        let is_virtual = if flags & libc::TIMER_ABSTIME == 0 {
            sleep_for(ps)
        } else if state::now_ps().is_some() {
            state::sleep_until(moment);
            true
        } else {
            false
        };
        if is_virtual {
            return 0;
        }
    }
    // SAFETY: as the caller has promised.
    match unsafe { libc::syscall(libc::SYS_clock_nanosleep, clock, flags, time, left) } {
        0 => 0,
        // This function returns the error itself.
        // SAFETY: the place is this thread's own.
        _ => unsafe { *libc::__errno_location() },
    }
}

/// Implements `nanosleep` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: as the caller has promised.
    match unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, left) } {
        0 => 0,
        error => {
            // SAFETY: the place is this thread's.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Implements `sleep` of POSIX.
#[unsafe(no_mangle)]
pub extern "C" fn sleep(seconds: c_uint) -> c_uint {
    let time = timespec { tv_sec: seconds.into(), tv_nsec: 0 };
    let mut left = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both places are live.
    match unsafe { nanosleep(&raw const time, &raw mut left) } {
        0 => 0,
        _ => left.tv_sec as c_uint,
    }
}

/// Implements `usleep` of POSIX.
#[unsafe(no_mangle)]
pub extern "C" fn usleep(us: useconds_t) -> c_int {
    let (tv_sec, ns) = (time_t::from(us / 1_000_000), us % 1_000_000 * 1000);
    let time = timespec { tv_sec, tv_nsec: c_long::from(ns) };
    // SAFETY: the place is live.
    unsafe { nanosleep(&raw const time, std::ptr::null_mut()) }
}
