//! Programs that poll and never wait, as with MPI_Test or MPI_Iprobe in a loop.
//!
//! Where every rank has a processor they lose nothing by that. Where ranks share one, such a loop keeps the processor from
//! the rank that it polls for: after some polls that find nothing this rank gives way at each, and in the end it sleeps until
//! something comes. A program that works between its polls does neither.

use std::cell::Cell;

use contract::{Endpoint, Time, TimeSpan};

use super::Engine;
use crate::error::Result;

/// Polls that find nothing before a rank gives way.
const POLLS_BEFORE_YIELD: u32 = 16;
/// Times that it gives way before it sleeps, as many as one that waits.
const YIELDS_BEFORE_SLEEP: u32 = 200;
/// Whoever polls again only after this works in between.
const OWN_WORK: TimeSpan = TimeSpan::from_us(10);
/// The program may poll for something that wakes nobody, such as a word in a window.
const LONGEST_SLEEP: TimeSpan = TimeSpan::from_us(1000);

/// The polls of a program.
pub(super) struct Polls {
    idle_polls: Cell<u32>,
    yields: Cell<u32>,
    /// When the last one was over.
    last: Cell<Time>,
}

impl Default for Polls {
    fn default() -> Self {
        Polls { idle_polls: Cell::new(0), yields: Cell::new(0), last: Cell::new(Time::from_ps(0)) }
    }
}

impl<E: Endpoint> Engine<E> {
    /// Takes note of a poll of a program that does not wait, and of whether it has found what it was for.
    ///
    /// # Errors
    /// Those that end the run.
    #[inline]
    pub(crate) fn note_poll(&self, has_found: bool) -> Result {
        if has_found {
            self.polls.idle_polls.set(0);
            return Ok(());
        }
        let idle_polls = self.polls.idle_polls.get().saturating_add(1);
        self.polls.idle_polls.set(idle_polls);
        if idle_polls < POLLS_BEFORE_YIELD || self.has_processor { Ok(()) } else { self.give_way() }
    }

    #[cold]
    fn give_way(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        let polls = &self.polls;
        if endpoint.now().since(polls.last.get()) > OWN_WORK {
            polls.yields.set(0);
        } else if polls.yields.get() < YIELDS_BEFORE_SLEEP {
            polls.yields.set(polls.yields.get() + 1);
            std::thread::yield_now();
        } else if self.others.get().is_none_or(|others| !others.are_several())
            && endpoint.sleep_a_while(LONGEST_SLEEP)?
        {
            polls.yields.set(0);
        }
        polls.last.set(endpoint.now());
        Ok(())
    }
}
