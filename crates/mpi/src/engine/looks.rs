//! Programs that look again and again and never wait, as with MPI_Test or MPI_Iprobe in a loop.
//!
//! Where every rank has a processor they lose nothing by that. Where ranks share one, such a loop keeps the processor from
//! the rank that it looks for: after some looks in vain this rank gives way at each of them, and in the end it sleeps until
//! something comes. A program that works between its looks does neither.

use std::cell::Cell;

use contract::{Endpoint, Time, TimeSpan};

use super::Engine;
use crate::error::Result;

/// Looks in vain before a rank gives way.
const LOOKS_BEFORE_YIELD: u32 = 16;
/// Times that it gives way before it sleeps, as many as one that waits.
const YIELDS_BEFORE_SLEEP: u32 = 200;
/// Whoever looks again only after this works in between.
const OWN_WORK: TimeSpan = TimeSpan::from_us(10);
/// The program may look for something that wakes nobody, such as a word in a window.
const LONGEST_SLEEP: TimeSpan = TimeSpan::from_us(1000);

/// The looks of a program.
pub(super) struct Looks {
    in_vain: Cell<u32>,
    yields: Cell<u32>,
    /// When the last one was over.
    last: Cell<Time>,
}

impl Default for Looks {
    fn default() -> Self {
        Looks { in_vain: Cell::new(0), yields: Cell::new(0), last: Cell::new(Time::from_ps(0)) }
    }
}

impl<E: Endpoint> Engine<E> {
    /// Takes note of a look of a program that does not wait, and of whether it has found what it was for.
    ///
    /// # Errors
    /// Those that end the run.
    #[inline]
    pub(crate) fn note_look(&self, has_found: bool) -> Result {
        if has_found {
            self.looks.in_vain.set(0);
            return Ok(());
        }
        let looks = self.looks.in_vain.get().saturating_add(1);
        self.looks.in_vain.set(looks);
        if looks < LOOKS_BEFORE_YIELD || self.has_processor { Ok(()) } else { self.give_way() }
    }

    #[cold]
    fn give_way(&self) -> Result {
        let mut endpoint = self.endpoint()?;
        let looks = &self.looks;
        if endpoint.now().since(looks.last.get()) > OWN_WORK {
            looks.yields.set(0);
        } else if looks.yields.get() < YIELDS_BEFORE_SLEEP {
            looks.yields.set(looks.yields.get() + 1);
            std::thread::yield_now();
        } else if self.others.get().is_none_or(|others| !others.are_several())
            && endpoint.sleep_a_while(LONGEST_SLEEP)?
        {
            looks.yields.set(0);
        }
        looks.last.set(endpoint.now());
        Ok(())
    }
}
