//! The source of the time, and the time without a source.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Variable with the virtual time of a second of the processor's, in thousandths of a second. It is missing if time is
/// real.
const RATE_VARIABLE: &CStr = c"CORNERSTONE_VIRTUAL_TIME";
const PS_PER_NS: u64 = 1000;
/// Duration of a read of a clock without a source, so that polling loops end.
const POLL_PS: u64 = 100_000;
/// The result for threads and moments without virtual time.
const NO_TIME: u64 = u64::MAX;

/// The functions of a source.
#[repr(C)]
pub struct Functions {
    /// Returns the virtual time in picoseconds, or the largest number for a thread that has none.
    now_ps: extern "C" fn() -> u64,
    /// Returns at that virtual time.
    sleep_until_ps: extern "C" fn(u64),
    /// Records that the program enters or leaves a library that observes its calls. What the library does takes no
    /// time.
    note_library: extern "C" fn(bool),
}

/// Value before the rate has been read.
const UNKNOWN: u64 = u64::MAX;
/// Value if time is real.
const REAL: u64 = u64::MAX - 1;

static FUNCTIONS: AtomicPtr<Functions> = AtomicPtr::new(std::ptr::null_mut());
static RATE: AtomicU64 = AtomicU64::new(UNKNOWN);
/// Virtual time in addition to the processor's: sleeps, reads of clocks, and the time that passed while there was a
/// source. That may have been less than the processor's, so this is a difference that wraps around.
static ELSE_PS: AtomicU64 = AtomicU64::new(0);

/// Sets or removes the source. Returns the virtual time in which the program has only slept or polled before the first
/// source.
pub(crate) fn set(functions: *const Functions) -> u64 {
    let before = FUNCTIONS.load(Ordering::Acquire);
    // SAFETY: the setter keeps it until it is removed, which happens here.
    if let (true, Some(installed)) = (functions.is_null(), unsafe { before.as_ref() }) {
        let now = (installed.now_ps)();
        if now != NO_TIME {
            ELSE_PS.store(now.wrapping_sub(processor_ps()), Ordering::Relaxed);
        }
    }
    FUNCTIONS.store(functions.cast_mut(), Ordering::Release);
    ELSE_PS.load(Ordering::Relaxed)
}

/// Returns the virtual time, or `None` if time is real.
pub(crate) fn now_ps() -> Option<u64> {
    // SAFETY: the setter keeps it until it is removed.
    match unsafe { FUNCTIONS.load(Ordering::Acquire).as_ref() } {
        Some(installed) => Some((installed.now_ps)()).filter(|&ps| ps != NO_TIME),
        None if rate() == REAL => None,
        None => {
            let looked = ELSE_PS.fetch_add(POLL_PS, Ordering::Relaxed);
            Some(looked.wrapping_add(processor_ps()))
        }
    }
}

/// Returns at a virtual time.
pub(crate) fn sleep_until(ps: u64) {
    // SAFETY: as above.
    match unsafe { FUNCTIONS.load(Ordering::Acquire).as_ref() } {
        Some(installed) => (installed.sleep_until_ps)(ps),
        None => {
            let now = ELSE_PS.load(Ordering::Relaxed).wrapping_add(processor_ps());
            ELSE_PS.fetch_add(ps.saturating_sub(now), Ordering::Relaxed);
        }
    }
}

/// Returns whether time is virtual.
pub(crate) fn is_virtual() -> bool {
    !FUNCTIONS.load(Ordering::Acquire).is_null() || rate() != REAL
}

/// Records that the program enters or leaves a library that observes its calls.
pub(crate) fn note_library(enters: bool) {
    // SAFETY: as above.
    if let Some(installed) = unsafe { FUNCTIONS.load(Ordering::Acquire).as_ref() } {
        (installed.note_library)(enters);
    }
}

/// Returns the virtual time of this thread's processor time.
fn processor_ps() -> u64 {
    let rate = rate();
    if rate == 0 || rate == REAL {
        return 0;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is live.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
    (u128::from(ns) * u128::from(PS_PER_NS) * u128::from(rate) / 1000) as u64
}

fn rate() -> u64 {
    let rate = RATE.load(Ordering::Relaxed);
    if rate != UNKNOWN {
        return rate;
    }
    // SAFETY: the name is a C string, and the result is one or null.
    let value = unsafe {
        let value = libc::getenv(RATE_VARIABLE.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    };
    let number = value.and_then(|value| value.to_str().ok()?.parse().ok());
    let rate = number.unwrap_or(REAL);
    RATE.store(rate, Ordering::Relaxed);
    rate
}
