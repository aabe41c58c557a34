//! The part of a process's time that it spends in its message-passing library.
//!
//! Between two requests the library returns from one call and begins the next. On a real machine that takes some tens
//! of nanoseconds, which the costs of messages include. After a request it takes microseconds, because other processes
//! have used the caches meanwhile. It is therefore not computing, unless it takes so long that the library must have
//! done work: it packs data, or combines operands, or has called a function of the program.

use std::cell::Cell;

/// Maximum time of each interval in the library that does not count as computing.
const FREE_NS: u64 = 5000;

/// The part of the time since the last request that the thread has spent in its library. Times are those that the
/// stopwatch has counted since then.
#[derive(Default)]
pub(crate) struct LibraryTime {
    /// True if the library reports when it is entered and left.
    is_reported: Cell<bool>,
    /// Number of nested functions in progress: a library that observes the calls is entered first.
    depth: Cell<u32>,
    /// Start of the current interval in the library.
    since_ns: Cell<u64>,
    /// Time that is not computing in the intervals that are over.
    free_ns: Cell<u64>,
}

impl LibraryTime {
    /// Resets the times, after the reply to a request.
    pub(crate) fn restart(&self) {
        self.since_ns.set(0);
        self.free_ns.set(0);
    }

    /// Records that the program calls a function of the library.
    pub(crate) fn enter(&self, elapsed_ns: u64) {
        self.is_reported.set(true);
        if self.depth.replace(self.depth.get() + 1) == 0 {
            self.since_ns.set(elapsed_ns);
        }
    }

    /// Records that the function returns. The reading of the clock for it, which takes `read_ns`, is not computing.
    pub(crate) fn leave(&self, elapsed_ns: u64, read_ns: u64) {
        if self.depth.get() == 1 {
            self.free_ns.set(self.free_ns(elapsed_ns) + read_ns);
        }
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    /// Returns the time so far that is not computing, or `None` if the library does not report.
    pub(crate) fn not_computing_ns(&self, elapsed_ns: u64) -> Option<u64> {
        self.is_reported.get().then(|| self.free_ns(elapsed_ns))
    }

    /// Returns the maximum time that will not be computing until the library is entered or left, or makes a request.
    pub(crate) fn at_most_ns(&self) -> u64 {
        self.free_ns.get() + if self.depth.get() > 0 { FREE_NS } else { 0 }
    }

    fn free_ns(&self, elapsed_ns: u64) -> u64 {
        let stretch_ns = match self.depth.get() {
            0 => 0,
            _ => elapsed_ns.saturating_sub(self.since_ns.get()).min(FREE_NS),
        };
        self.free_ns.get() + stretch_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_stretches_in_the_library_are_no_computing() {
        let time = LibraryTime::default();
        assert_eq!(time.not_computing_ns(700), None);
        // The program computes and enters, and the library makes a request.
        time.enter(1000);
        assert_eq!(time.not_computing_ns(1300), Some(300));
        // It returns some time after the reply, and the clock is read. At the next request of the library, only the
        // computing between the return and the next call counts.
        time.restart();
        time.leave(2000, 20);
        assert_eq!(time.not_computing_ns(2070), Some(2020));
        time.enter(2070);
        assert_eq!(time.not_computing_ns(2100), Some(2100 - 50));
    }

    #[test]
    fn a_function_inside_another_one_begins_no_stretch() {
        let time = LibraryTime::default();
        time.enter(100);
        time.enter(300);
        assert_eq!(time.not_computing_ns(400), Some(300));
        time.restart();
        time.leave(50, 20);
        assert_eq!(time.not_computing_ns(80), Some(80));
        time.leave(90, 20);
        assert_eq!(time.not_computing_ns(1000), Some(110));
    }

    #[test]
    fn work_of_the_library_counts() {
        let time = LibraryTime::default();
        time.enter(0);
        assert_eq!((time.not_computing_ns(90_000), time.at_most_ns()), (Some(FREE_NS), FREE_NS));
        time.leave(90_000, 0);
        assert_eq!(time.at_most_ns(), FREE_NS);
        time.enter(100_000);
        assert_eq!(
            (time.not_computing_ns(200_000), time.at_most_ns()),
            (Some(2 * FREE_NS), 2 * FREE_NS)
        );
    }
}
