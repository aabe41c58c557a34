//! Waits in programs with several threads that use the library: one at a time, and waiting threads take turns.

use std::time::{Duration, Instant};

use contract::{Endpoint, Request};

use super::Engine;
use crate::error::Result;

/// The other threads of the program, for an implementation that admits one at a time.
pub trait OtherThreads {
    /// True if one of them waits to enter.
    fn is_wanted(&self) -> bool;

    /// Returns whether there have ever been several.
    fn are_several(&self) -> bool;

    /// Admits the threads that want to enter, and returns when it is this thread's turn again. `may_sleep` says that
    /// this thread has had only idle polls for long, so that it may sleep.
    fn let_in(&self, may_sleep: bool);
}

/// Number of polls of a turn while another thread may want to enter, and their maximum duration together.
const POLLS: u32 = 64;
const TURN: Duration = Duration::from_micros(50);

/// Number of idle turns before a thread whose rank shares its processor sleeps between them.
const TURNS_BEFORE_SLEEP: u32 = 8;

impl<E: Endpoint> Engine<E> {
    /// Declares that several threads of the program use this library, of which `others` admits one at a time. From then
    /// on every wait admits the others, and nothing waits inside the endpoint.
    pub fn share_between_threads(&self, others: &'static dyn OtherThreads) {
        if self.others.set(others).is_ok()
            && let Ok(mut endpoint) = self.endpoint()
        {
            endpoint.expect_other_ends();
        }
    }

    /// Returns whether several threads use it.
    #[inline(always)]
    pub(crate) fn has_other_threads(&self) -> bool {
        self.others.get().is_some()
    }

    /// Admits other threads, if any want to enter. Nothing of the engine is in use meanwhile.
    pub(crate) fn let_others_in(&self) {
        if let Some(others) = self.others.get()
            && others.is_wanted()
        {
            others.let_in(false);
        }
    }

    /// As [`wait_for`](Engine::wait_for).
    #[cold]
    pub(super) fn wait_in_turns(
        &self,
        others: &'static dyn OtherThreads,
        done: &mut dyn FnMut(&mut E) -> bool,
        hopeless: &dyn Fn(&E) -> Option<Request>,
    ) -> Result {
        let mut turns = 0_u32;
        loop {
            let (begin, mut polls) = (Instant::now(), 0_u32);
            // A thread that has always been alone waits as if there were no others, until another one appears.
            let is_over = &mut || {
                polls += 1;
                let is_long = polls >= POLLS || begin.elapsed() >= TURN;
                others.is_wanted() || (others.are_several() && is_long)
            };
            if self.wait_for_a_turn(done, hopeless, is_over)? {
                return Ok(());
            }
            turns = turns.saturating_add(1);
            others.let_in(!self.has_processor && turns >= TURNS_BEFORE_SLEEP);
        }
    }
}
