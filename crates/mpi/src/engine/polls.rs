//! Programs that poll and never wait, such as MPI_Test or MPI_Iprobe in a loop.
//!
//! If every rank has a processor, polling costs nothing. If ranks share one, such a loop keeps the processor from the
//! rank that it polls for. After some idle polls this rank yields at each, and finally it sleeps until something
//! arrives. A program that works between its polls does neither.

use std::cell::Cell;

use contract::{Endpoint, Time, TimeSpan, WaitPlace, wait_reports};

use super::Engine;
use crate::error::Result;

/// Number of idle polls before a rank yields.
const POLLS_BEFORE_YIELD: u32 = 16;
/// Number of idle polls after which a rank looks whether a report is due, and the time between reports.
const POLLS_PER_REPORT: u32 = 256;
/// Number of idle polls up to which they are counted. Then the last few are counted again.
const POLLS_COUNTED: u32 = 1 << 16;
const REPORT_INTERVAL: TimeSpan = TimeSpan::from_us(20_000);
/// Number of yields before it sleeps, as for a rank that waits.
const YIELDS_BEFORE_SLEEP: u32 = 200;
/// Time between two polls from which the program is assumed to work in between.
const OWN_WORK: TimeSpan = TimeSpan::from_us(10);
/// A yield that takes longer has passed the processor to a program that computes. A rank that sleeps gets it back
/// sooner.
const LONG_YIELD: TimeSpan = TimeSpan::from_us(1000);
/// Longest sleep. The program may poll for something that wakes nobody, such as a word in a window.
const LONGEST_SLEEP: TimeSpan = TimeSpan::from_us(1000);

/// The polls of a program.
pub(super) struct Polls {
    idle_polls: Cell<u32>,
    yields: Cell<u32>,
    /// End of the last poll.
    last: Cell<Time>,
    /// Time of the last report to the launcher, if there was one since a poll found something.
    reported: Cell<Option<Time>>,
}

impl Default for Polls {
    fn default() -> Self {
        Polls {
            idle_polls: Cell::new(0),
            yields: Cell::new(0),
            last: Cell::new(Time::from_ps(0)),
            reported: Cell::new(None),
        }
    }
}

impl<E: Endpoint> Engine<E> {
    /// Records a poll of a program that does not wait, and whether it has found what it was for.
    ///
    /// # Errors
    /// Errors that end the run.
    #[inline]
    pub(crate) fn note_poll(&self, has_found: bool) -> Result {
        if has_found {
            self.polls.idle_polls.set(0);
            return if self.polls.reported.get().is_some() { self.end_reports() } else { Ok(()) };
        }
        let idle_polls = match self.polls.idle_polls.get() {
            POLLS_COUNTED => POLLS_COUNTED - POLLS_PER_REPORT,
            polls => polls,
        } + 1;
        self.polls.idle_polls.set(idle_polls);
        if idle_polls.is_multiple_of(POLLS_PER_REPORT) {
            self.report_polls()?;
        }
        if idle_polls < POLLS_BEFORE_YIELD || self.has_processor {
            Ok(())
        } else {
            self.yield_processor()
        }
    }

    /// Reports to the launcher that the program polls and finds nothing, so that people can be told where.
    #[cold]
    fn report_polls(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        let (now, last) = (endpoint.now(), self.polls.reported.get());
        let is_alone = self.others.get().is_none_or(|others| !others.are_several());
        if !is_alone || last.is_some_and(|last| now.since(last) < REPORT_INTERVAL) {
            return Ok(());
        }
        if let Some(waits) = endpoint.long_waits()
            && let Some(reports) = waits.reports()
        {
            reports.begin_of_program();
            waits.report(WaitPlace::ALONE);
            self.polls.reported.set(Some(now));
        }
        Ok(())
    }

    #[cold]
    fn end_reports(&self) -> Result {
        self.polls.reported.set(None);
        wait_reports(&mut *self.endpoint()?).into_iter().for_each(|reports| reports.end());
        Ok(())
    }

    #[cold]
    fn yield_processor(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        let polls = &self.polls;
        if endpoint.now().since(polls.last.get()) > OWN_WORK {
            polls.yields.set(0);
        } else if polls.yields.get() < YIELDS_BEFORE_SLEEP {
            polls.yields.set(polls.yields.get() + 1);
            let before = endpoint.now();
            match endpoint.simulated_time() {
                Some(simulated_time) => simulated_time.yield_processor()?,
                None => std::thread::yield_now(),
            }
            if endpoint.now().since(before) > LONG_YIELD {
                polls.yields.set(YIELDS_BEFORE_SLEEP);
            }
        } else if self.others.get().is_none_or(|others| !others.are_several())
            && endpoint.long_waits().map_or(Ok(true), |waits| waits.sleep_a_while(LONGEST_SLEEP))?
        {
            polls.yields.set(0);
        }
        polls.last.set(endpoint.now());
        Ok(())
    }
}
