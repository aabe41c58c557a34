//! The computing times of processes for which the simulation does not wait, measured from outside.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use contract::TimeSpan;
use fabric_proxy::wire::line::Line;
use fabric_proxy::wire::request::Before;
use fabric_proxy::wire::{message, scaled};

use super::{Computing, Processes};

/// Minimum time between checks of processes, and maximum while none of them has made a request: requests without reply
/// wake no process.
const SHORTEST: Duration = Duration::from_micros(50);
/// Minimum if a processor is free for polling.
const SHORTEST_SPIN: Duration = Duration::from_micros(2);
const LONGEST: Duration = Duration::from_millis(2);

/// The computing times of processes.
///
/// The computing of a process so far is read from its processor-time clock. That is not a bound for a process with
/// several threads, so other ranks do not continue while such a process computes.
pub(super) struct Clocks {
    processes: Arc<Processes>,
    lines: Vec<Line>,
    factor: f64,
    at_once: usize,
    /// True if a rank's turn was open at the last check. A turn is taken only if two checks find it open, so that a
    /// process that makes several requests in a row is not interrupted.
    were_open: Vec<Cell<bool>>,
}

impl Clocks {
    /// Creates those of `ranks` processes, of which as many may compute at once as there are processors. None computes
    /// while the simulation continues if computing is recorded or takes no time, because the order of events would not
    /// be reproducible.
    pub(super) fn new(processes: Arc<Processes>, ranks: usize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (factor, at_once) = match processes.computing() {
            Computing::Measured(factor) if processors > 1 => (*factor, processors),
            _ => (0.0, 0),
        };
        let lines = (0..ranks).map(|rank| processes.line(rank)).collect();
        let were_open = (0..ranks).map(|_| Cell::new(false)).collect();
        Clocks { processes, lines, factor, at_once, were_open }
    }

    /// Returns the number of processes that may compute at once, or 0 if each must compute while the simulation waits.
    pub(super) fn at_once(&self) -> usize {
        self.at_once
    }

    /// Returns the computing time of a rank's process, if it has made a request.
    pub(super) fn ended(&self, rank: usize) -> Option<TimeSpan> {
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
        self.processes.check().is_err().then_some(TimeSpan::ZERO)
    }

    /// Returns a lower bound of its computing time, as far as is known now.
    pub(super) fn at_least(&self, rank: usize) -> TimeSpan {
        let line = &self.lines[rank];
        let computed_ns = line.computed_at_least_ns();
        // Computing after a request without reply is not part of the computing before it.
        if line.is_open() { TimeSpan::ZERO } else { scaled(computed_ns, self.factor) }
    }

    /// Sleeps until one of the processes of `ranks` makes a request, or may have computed for `span` more.
    pub(super) fn wait(&self, ranks: &[usize], span: Option<TimeSpan>) {
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
