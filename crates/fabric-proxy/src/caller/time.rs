//! The time of a process: its computing since the last call, and the virtual time that follows from it.

use std::cell::Cell;

use contract::{Result, Selector, Time};

use super::{Caller, unexpected_reply};
use crate::stopwatch::{Stopwatch, clock_ns, processor_ns};
use crate::wire::line::UNKNOWN;
use crate::wire::reply::{QuietTime, Value};
use crate::wire::request::ProcessRequest;
use crate::wire::scaled;

/// Number of requests from which the time of returning from one is measured.
const REQUESTS: usize = 31;

/// Margin of the published start of computing, because the server may read it while the thread reads its own clock.
const LATER_NS: u64 = 2000;

/// Number of calls between two readings of the time of other threads.
const CALLS_OF_OTHERS: u64 = 64;

impl Caller {
    /// Measures the time of returning from a request, with the caches and the processor in the state in which requests
    /// leave them.
    ///
    /// # Errors
    /// If the run has failed.
    pub(crate) fn measure_returning(&self) -> Result<()> {
        if self.factor.is_none() {
            return Ok(());
        }
        let mut returning = [0; REQUESTS];
        self.as_library(|| {
            returning.iter_mut().try_for_each(|one| {
                self.call(&ProcessRequest::Now, &[], |_, _, _| ())?;
                *one = self.stopwatch.get().map_or(0, Stopwatch::elapsed_ns);
                Ok(())
            })
        })?;
        returning.sort_unstable();
        self.returning_ns.set(returning[REQUESTS / 2]);
        self.begin_computing();
        Ok(())
    }

    /// Runs a part of the library, which is not computing of the program.
    pub(crate) fn as_library<R>(&self, body: impl FnOnce() -> R) -> R {
        self.library_depth.set(self.library_depth.get() + 1);
        let result = body();
        self.library_depth.set(self.library_depth.get() - 1);
        result
    }

    /// Returns the virtual time. Between two readings in a program with measured computing, only its computing time has
    /// passed. So no request is needed, and the program's data stay in the caches.
    ///
    /// # Errors
    /// If the run has failed.
    pub(crate) fn virtual_now(&self) -> Result<Time> {
        if let Some(now) = self.known_now() {
            return Ok(now);
        }
        let value = self.call(&ProcessRequest::Now, &[], |value, _, _| value)?;
        let Value::Time(now) = value else { return Err(unexpected_reply()) };
        self.now.set(Some(now));
        Ok(now)
    }

    /// Returns the virtual time, if it is known without a request.
    fn known_now(&self) -> Option<Time> {
        let (then, factor) = (self.now.get()?, self.factor?);
        let counts = self.library_depth.get() == 0 && self.is_own_thread();
        counts.then(|| then + scaled(self.computed_ns(), factor) + self.quiet.polled())
    }

    /// Returns whether a poll, by a probe with `selector` if there is one, finds nothing, according to the last reply.
    /// It then takes its virtual time, and needs no request.
    pub(crate) fn finds_nothing(&self, selector: Option<Selector>) -> bool {
        self.known_now().is_some_and(|now| self.quiet.finds_nothing(now, selector))
    }

    /// Records the reply to a poll.
    pub(crate) fn note_poll(&self, quiet: Option<QuietTime>, selector: Option<Selector>) {
        self.quiet.note_poll(quiet, selector);
        self.now.set(quiet.map(|quiet| quiet.now));
    }

    /// Records that the program computes from now on: a reply has been read, with all its data.
    pub(super) fn begin_computing(&self) {
        if self.factor.is_none() || !self.is_own_thread() {
            return;
        }
        let counts = self.library_depth.get() == 0;
        if counts && self.calls.replace(self.calls.get() + 1).is_multiple_of(CALLS_OF_OTHERS) {
            self.others_ns.set(self.uncounted_ns());
        }
        self.stopwatch.get_or_init(Stopwatch::start).restart();
        self.library.restart();
        // Publishing takes time, which is measured with the rest.
        if counts { self.show_computing() } else { self.line.compute_since(UNKNOWN) }
    }

    /// Publishes the processor time of this process from which on it computes.
    fn show_computing(&self) {
        let Some(stopwatch) = self.stopwatch.get() else { return };
        let returning_ns = self.returning_ns.get() + self.library.at_most_ns();
        let later_ns = returning_ns + stopwatch.processor_read_ns() + LATER_NS;
        self.line.compute_since(stopwatch.origin_ns() + self.others_ns.get() + later_ns);
    }

    /// Records that the program enters or leaves a function of its library. The function's time is not computing, if it
    /// is short.
    pub(crate) fn note_library(&self, enters: bool) {
        let Some(stopwatch) = self.stopwatch.get().filter(|_| self.library_depth.get() == 0) else {
            return;
        };
        let now_ns = stopwatch.elapsed_ns();
        match enters {
            true => self.library.enter(now_ns),
            false => self.library.leave(now_ns, stopwatch.monotonic_read_ns()),
        }
        self.show_computing();
    }

    /// Returns the computing time of the program since the last call.
    pub(super) fn computed_ns(&self) -> u64 {
        if self.factor.is_none() || self.library_depth.get() > 0 || !self.is_own_thread() {
            return 0;
        }
        let Some(elapsed_ns) = self.elapsed_ns() else { return processor_ns() };
        let no_computing_ns = self.library.not_computing_ns(elapsed_ns);
        elapsed_ns.saturating_sub(no_computing_ns.unwrap_or(self.returning_ns.get()))
    }

    /// Returns the processor time of the process's other threads so far, or 0 if computing is not measured.
    pub(crate) fn uncounted_ns(&self) -> u64 {
        match self.factor {
            Some(_) => clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(processor_ns()),
            None => 0,
        }
    }

    /// Returns whether the computing of the calling thread counts. The clock of another thread does not measure it.
    fn is_own_thread(&self) -> bool {
        self.thread == this_thread()
    }

    /// Returns the processor time of the thread since the last call, or `None` before the first one.
    fn elapsed_ns(&self) -> Option<u64> {
        let stopwatch = self.stopwatch.get()?;
        let origin_ns = stopwatch.origin_ns();
        let elapsed_ns = stopwatch.elapsed_ns();
        // The stopwatch has read the processor time, which does not count.
        if stopwatch.origin_ns() != origin_ns {
            self.show_computing();
        }
        Some(elapsed_ns)
    }
}

/// Returns a number for the calling thread, which is unique as long as the thread lives.
pub(super) fn this_thread() -> usize {
    thread_local!(static HERE: Cell<u8> = const { Cell::new(0) });
    HERE.with(|here| here.as_ptr().addr())
}
