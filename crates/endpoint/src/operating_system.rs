//! The services of the operating system that a rank may use to measure that system.

use crate::TimeSpan;

/// A system call that sleeps for a given time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepCall {
    /// A wait on a word of memory (futex) that never changes, with a time limit.
    Futex,
    /// `clock_nanosleep` until a time of the monotonic clock.
    ClockNanosleep,
    /// `epoll_wait` for a timer's descriptor.
    Epoll,
}

/// A time in which a processor did not run the rank, as the tracer of the system reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedNoise {
    /// The name of the interrupt, softirq or thread that ran.
    pub name: String,
    /// The time from its end to the moment at which it was read.
    pub age: TimeSpan,
    /// Its duration.
    pub length: TimeSpan,
}

/// The operating system of one rank. Simulated machines have none.
///
/// Everything that it has begun (a trace, a load, a limit on idle states) ends when it is dropped.
///
/// # Errors
/// Every error is a text that names the call or the file, and the next step if there is one.
pub trait OperatingSystem {
    /// Returns the system's counts so far of events that take this rank's processor from it: interrupts by their
    /// source, switches to other programs, and more, each with its name; empty if they are not available. Reading takes
    /// tens of microseconds.
    fn counts(&mut self) -> Vec<(String, u64)>;

    /// Begins to trace the events that take this rank's processor from it. This needs privileges.
    fn begin_trace(&mut self) -> Result<(), String>;

    /// Returns the events that were traced since the last call, the oldest first; empty if no trace was begun.
    fn traced(&mut self) -> Vec<TracedNoise>;

    /// Sleeps for `span` from now on. A signal may end the sleep early.
    fn sleep(&mut self, call: SleepCall, span: TimeSpan) -> Result<(), String>;

    /// Permits the system to end sleeps of this rank this much later, so that it wakes up less often; `None` for its default.
    fn set_timer_slack(&mut self, _slack: Option<TimeSpan>) -> Result<(), String> {
        Err("this system has no timer slack".into())
    }

    /// Yields the processor to another program, if one is ready.
    fn yield_processor(&self);

    /// Opens the descriptor through which another rank of this host wakes this one ([`wake`](OperatingSystem::wake)),
    /// and returns its address.
    fn open_wake_up(&mut self) -> Result<Vec<u8>, String>;

    /// Sleeps in `epoll_wait` until another rank wakes this one, for at most `longest`. Returns whether it was woken.
    fn sleep_until_woken(&mut self, longest: TimeSpan) -> Result<bool, String>;

    /// Wakes the rank with this address.
    fn wake(&mut self, address: &[u8]) -> Result<(), String>;

    /// Keeps all processors out of idle states with a long exit latency, or permits these again.
    fn hold_off_idle_states(&mut self, on: bool) -> Result<(), String>;

    /// Starts a thread that computes on each processor on which this rank may run, or ends these threads.
    fn load_processor(&mut self, on: bool) -> Result<(), String>;
}
