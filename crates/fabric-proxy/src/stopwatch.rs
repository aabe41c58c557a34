//! The computing time of a thread, without the time of measuring it.

use std::cell::Cell;
use std::mem::transmute;
use std::sync::OnceLock;

/// Time in ns since the last reading up to which the monotonic clock is used: a thread that loses its processor is
/// usually away for longer.
const AT_ONCE_NS: u64 = 20_000;
/// Time in ns after which the processor time is read again in any case.
const LONGEST_NS: u64 = 1_000_000;
/// Number of measurements of the duration of a clock read.
const READS: usize = 31;

/// Measures the processor time of one thread from a beginning on.
///
/// Reading the processor time is a system call. It takes longer than the computing of many programs between two calls,
/// and longest if other processes have used the caches meanwhile. It is therefore read between two readings of the
/// monotonic clock, which is not a system call, so that its own duration is known each time. Between readings in quick
/// succession it is not read at all.
pub(crate) struct Stopwatch {
    /// Minimum duration of a reading of the monotonic clock, and of one of the processor time.
    monotonic_read_ns: u64,
    processor_read_ns: u64,
    /// Last reading of the processor time, corrected to the moment of its end.
    since: Cell<Moment>,
    /// Time that was counted before that moment.
    counted_ns: Cell<u64>,
    /// Monotonic time of the last reading.
    looked_ns: Cell<u64>,
}

/// A moment by both clocks.
#[derive(Clone, Copy, Default)]
struct Moment {
    processor_ns: u64,
    monotonic_ns: u64,
}

impl Stopwatch {
    /// Creates one that begins now.
    pub(crate) fn start() -> Self {
        let minimum =
            |read: fn() -> u64| (0..READS).map(|_| read().abs_diff(read())).min().unwrap_or(0);
        let stopwatch = Stopwatch {
            monotonic_read_ns: minimum(monotonic_ns),
            processor_read_ns: minimum(processor_ns),
            since: Cell::default(),
            counted_ns: Cell::new(0),
            looked_ns: Cell::new(0),
        };
        stopwatch.restart();
        stopwatch
    }

    /// Begins again with nothing counted.
    pub(crate) fn restart(&self) {
        self.counted_ns.set(0);
        self.set_since(self.read().1);
    }

    /// Returns the counted time since the beginning, in nanoseconds. It never decreases.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        let now_ns = monotonic_ns();
        let since = self.since.get();
        let is_at_once = now_ns.saturating_sub(self.looked_ns.get()) < AT_ONCE_NS;
        if is_at_once && now_ns - since.monotonic_ns < LONGEST_NS {
            self.looked_ns.set(now_ns);
            let passed_ns = now_ns - since.monotonic_ns;
            return self.counted_ns.get() + passed_ns.saturating_sub(self.monotonic_read_ns);
        }
        let (before_ns, after) = self.read();
        // Readings may have counted a little more, if the thread was without its processor for a moment.
        let looked_ns = self.looked_ns.get().saturating_sub(since.monotonic_ns);
        let passed_ns = before_ns.saturating_sub(since.processor_ns).max(looked_ns);
        self.counted_ns.set(self.counted_ns.get() + passed_ns);
        self.set_since(after);
        self.counted_ns.get()
    }

    /// Returns the processor time of the thread at which nothing was counted yet. The thread's clock minus this is at
    /// most the counted time, except for the duration of a reading.
    pub(crate) fn origin_ns(&self) -> u64 {
        self.since.get().processor_ns.saturating_sub(self.counted_ns.get())
    }

    /// Returns the minimum duration of a reading of the monotonic clock.
    pub(crate) fn monotonic_read_ns(&self) -> u64 {
        self.monotonic_read_ns
    }

    /// Returns the minimum duration of a reading of the processor time.
    pub(crate) fn processor_read_ns(&self) -> u64 {
        self.processor_read_ns
    }

    fn set_since(&self, moment: Moment) {
        self.since.set(moment);
        self.looked_ns.set(moment.monotonic_ns);
    }

    /// Returns the processor time before a reading of it, and the moment after it.
    fn read(&self) -> (u64, Moment) {
        let before_ns = monotonic_ns();
        let processor_ns = processor_ns();
        let after_ns = monotonic_ns();
        let took_ns = after_ns - before_ns;
        // A longer one was interrupted.
        let took_ns = if took_ns < AT_ONCE_NS { took_ns } else { self.processor_read_ns };
        let half_ns = took_ns / 2;
        let after = Moment { processor_ns: processor_ns + half_ns, monotonic_ns: after_ns };
        (processor_ns.saturating_sub(half_ns), after)
    }
}

/// Returns the processor time of this thread.
pub(crate) fn processor_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the time of a clock by a system call, or 0 if there is none.
pub(crate) fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is live. The library's function is not used, because a preloaded one may replace it.
    unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut time) };
    nanoseconds(time)
}

/// Returns the time of the system's monotonic clock.
fn monotonic_ns() -> u64 {
    static READ: OnceLock<Option<Read>> = OnceLock::new();
    let Some(read) = READ.get_or_init(system_read) else {
        return clock_ns(libc::CLOCK_MONOTONIC);
    };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is live.
    unsafe { read(libc::CLOCK_MONOTONIC, &raw mut time) };
    nanoseconds(time)
}

type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

/// Returns the C library's own function, which needs no system call. The function that the name resolves to may be
/// preloaded, and return virtual time.
fn system_read() -> Option<Read> {
    // SAFETY: the names are C strings; nothing is loaded that was not loaded before.
    let found = unsafe {
        let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY);
        if library.is_null() {
            return None;
        }
        libc::dlsym(library, c"clock_gettime".as_ptr())
    };
    // SAFETY: this is the type of the function of this name.
    (!found.is_null()).then(|| unsafe { transmute::<*mut libc::c_void, Read>(found) })
}

fn nanoseconds(time: libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn compute(ns: u64) {
        let start = processor_ns();
        while processor_ns() < start + ns {}
    }

    #[test]
    fn it_counts_what_is_computed_and_not_what_is_slept() {
        let stopwatch = Stopwatch::start();
        let before = processor_ns();
        for _ in 0..20 {
            compute(110_000);
            std::thread::sleep(Duration::from_millis(1));
            stopwatch.elapsed_ns();
        }
        let counted = stopwatch.elapsed_ns();
        let used = processor_ns() - before;
        // The time of the sleeps and the readings may count or not: it is a tenth of each turn.
        assert!((2_000_000..=used).contains(&counted), "{counted} of {used} ns");
        stopwatch.restart();
        assert!(stopwatch.elapsed_ns() < counted);
    }

    #[test]
    fn looks_never_go_back_and_the_clock_of_the_thread_is_no_further() {
        let stopwatch = Stopwatch::start();
        let mut last = 0;
        for at in 0..100_000 {
            if at % 1000 == 0 {
                compute(30_000);
            }
            let elapsed = stopwatch.elapsed_ns();
            assert!(elapsed >= last, "{elapsed} after {last} at {at}");
            last = elapsed;
        }
        // Each reading of the clock that is not counted is in the clock of the thread before the origin moves.
        let bound = processor_ns() - stopwatch.origin_ns();
        assert!(stopwatch.elapsed_ns() + 20_000 >= bound, "{} and {bound}", stopwatch.elapsed_ns());
    }
}
