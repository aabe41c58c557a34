//! Ticks: the processor's time-stamp counter where the kernel itself trusts it, else nanoseconds of the system's clock.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether ticks are nanoseconds of the system's clock. It is set before anything is noted.
static SYSTEM: AtomicBool = AtomicBool::new(!cfg!(target_arch = "x86_64"));

/// Chooses between the two; whether it is the system's clock.
pub(crate) fn choose() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let trusted = std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc");
    let system = !(cfg!(target_arch = "x86_64") && trusted);
    // Relaxed: it guards no other memory, and no thread notes anything yet.
    SYSTEM.store(system, Ordering::Relaxed);
    system
}

/// Ticks now. The counter is read without a fence: a few nanoseconds of the next or the last call do not matter.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if !SYSTEM.load(Ordering::Relaxed) {
        // SAFETY: the instruction exists on every x86-64 processor.
        return unsafe { std::arch::x86_64::_rdtsc() };
    }
    nanoseconds()
}

/// The system's monotonic clock.
pub(crate) fn nanoseconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is live; this clock always exists, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
