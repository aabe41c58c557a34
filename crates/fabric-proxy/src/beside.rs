//! Processes that compute beside the simulation: their computing time, measured from outside.

use std::cell::Cell;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use contract::TimeSpan;

use crate::computing::Computing;
use crate::host::Host;
use crate::stopwatch::clock_ns;
use crate::wire::line::Line;
use crate::wire::message;
use crate::wire::request::Before;
use crate::wire::scaled;

/// Minimum time between checks of processes, and maximum while none of them has made a request: requests without reply
/// wake no process.
const SHORTEST: Duration = Duration::from_micros(50);
/// Minimum if a processor is free for polling.
const SHORTEST_SPIN: Duration = Duration::from_micros(2);
const LONGEST: Duration = Duration::from_millis(2);
/// Number of links of a folder of `/proc`, in addition to one for each folder in it.
const LINKS_OF_A_FOLDER: u64 = 2;

/// The computing time of processes for which the simulation does not wait.
///
/// The computing of a process so far is read from its processor-time clock. That is not a bound for a process with
/// several threads, so other ranks do not continue beside such a process.
pub struct Beside {
    host: Arc<Host>,
    lines: Vec<Line>,
    factor: f64,
    at_once: usize,
    /// True if a rank's turn was open at the last check. A turn is taken only if two checks find it open, so that a
    /// process that makes several requests in a row is not interrupted.
    were_open: Vec<Cell<bool>>,
}

impl Beside {
    /// Creates it for the processes of `host`, as many at once as there are processors. None computes beside the
    /// simulation if computing is recorded or takes no time, because the order of events would not be reproducible.
    pub fn new(host: Arc<Host>, ranks: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (factor, at_once) = match host.computing() {
            Computing::Measured(factor) if processors > 1 => (*factor, processors),
            _ => (0.0, 0),
        };
        let lines = (0..ranks).map(|rank| host.line(rank)).collect();
        let were_open = (0..ranks).map(|_| Cell::new(false)).collect();
        Beside { host, lines, factor, at_once, were_open }
    }

    /// Returns the number of processes that may compute at once, or 0 if none may compute beside the simulation.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    /// Returns the computing time of a rank's process, if it has made a request.
    pub fn ended(&self, rank: usize) -> Option<TimeSpan> {
        let line = &self.lines[rank];
        let is_open = line.is_open();
        if self.were_open[rank].replace(is_open) && is_open {
            line.take_open();
        }
        if line.is_requested() {
            // The server reports a request that cannot be read.
            let request = message::read::<Before>(line, 0);
            return Some(request.map_or(TimeSpan::ZERO, |request| {
                scaled(request.head.computed_ns, self.factor) + request.head.polled
            }));
        }
        // The server, which waits for the request, reports the error.
        self.host.check().is_err().then_some(TimeSpan::ZERO)
    }

    /// Returns a lower bound of its computing time.
    pub fn at_least(&self, rank: usize) -> TimeSpan {
        let line = &self.lines[rank];
        let computing = line.computes_since();
        let used_ns = computing.and_then(|(since_ns, process)| {
            Some(clock_ns(clock_of(process)?).saturating_sub(since_ns))
        });
        // Computing after a request without reply is not part of the computing before it.
        if line.is_open() {
            return TimeSpan::ZERO;
        }
        scaled(used_ns.unwrap_or(0), self.factor)
    }

    /// Sleeps until one of the processes of `ranks` makes a request, or may have computed for `span` more.
    pub fn wait(&self, ranks: &[usize], span: Option<TimeSpan>) {
        let has_processor = ranks.len() < self.at_once;
        let shortest = if has_processor { SHORTEST_SPIN } else { SHORTEST };
        let limit = match span {
            Some(span) if self.factor > 0.0 => {
                let of_processor = span.as_us() / self.factor * 1e-6;
                Duration::from_secs_f64(of_processor.min(1.0)).clamp(shortest, LONGEST)
            }
            Some(_) | None => LONGEST,
        };
        let Some(&first) = ranks.first() else { return };
        let any_is_open = ranks.iter().any(|&rank| self.lines[rank].is_open());
        let limit = if any_is_open { shortest } else { limit };
        let is_requested = || ranks.iter().any(|&rank| self.lines[rank].is_requested());
        self.lines[first].await_requests(limit, has_processor, is_requested);
    }
}

/// Returns the clock of the processor time of a process, or `None` if it has several threads, of which only one counts.
fn clock_of(process: u64) -> Option<libc::clockid_t> {
    let threads =
        std::fs::metadata(format!("/proc/{process}/task")).ok()?.nlink() - LINKS_OF_A_FOLDER;
    let mut clock = 0;
    // SAFETY: the place is live.
    let found = unsafe { libc::clock_getcpuclockid(process as libc::pid_t, &raw mut clock) } == 0;
    (found && threads == 1).then_some(clock)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// The process of a test has several threads, a shell has one, and the process with number 0 does not exist.
    #[test]
    fn only_processes_of_one_thread_have_a_clock() {
        assert_eq!((clock_of(std::process::id().into()), clock_of(0)), (None, None));
        let script = "read line; while :; do :; done";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        let clock = clock_of(shell.id().into()).expect("a shell has one thread");
        let before = clock_ns(clock);
        writeln!(shell.stdin.take().unwrap()).unwrap();
        while clock_ns(clock) < before + 1_000_000 {
            std::thread::yield_now();
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
