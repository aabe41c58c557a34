//! Waits in programs with several threads that use the library: one at a time, and waiting threads take turns.
//!
//! While one thread alone has used the library it waits inside the endpoint, which reports long waits to the launcher.
//! Waits that take turns are reported here: each polls for the report at intervals, and a report is complete once every
//! wait has had an idle poll. [`OtherEnds`] then states whether the remaining threads of the program can act.

use std::rc::Rc;
use std::time::{Duration, Instant};

use contract::{
    Endpoint, LongWaits, OtherEnds, REPORT_INTERVAL, Request, WaitPlace, give_up_on, wait_reports,
};

use super::Engine;
use super::waiting::Found;
use crate::error::Result;

/// The other threads of the program, for an implementation that admits one at a time.
pub trait OtherThreads: OtherEnds + Sync {
    /// True if one of them waits to enter.
    fn is_wanted(&self) -> bool;

    /// Returns whether there have ever been several.
    fn are_several(&self) -> bool;

    /// Admits the threads that want to enter, and returns when it is this thread's turn again. `may_sleep` says that
    /// this thread has had only idle polls for long, so that it may sleep.
    fn let_in(&self, may_sleep: bool);

    /// Records that this thread is in a long wait. Returns the number of the wait.
    fn begin_long_wait(&self) -> u64;

    /// Records an idle poll of such a wait.
    fn note_idle_poll(&self, wait: u64) -> WaitPlace;

    /// Records the end of such a wait.
    fn end_long_wait(&self, wait: u64);
}

/// Passes the question on to the threads.
struct EndsByThreads(&'static dyn OtherThreads);

impl OtherEnds for EndsByThreads {
    fn ruled_out(&self) -> Option<u64> {
        self.0.ruled_out()
    }

    fn describe(&self) -> Option<String> {
        self.0.describe()
    }
}

/// Number of polls of a turn while another thread may want to enter, and their maximum duration together.
const POLLS: u32 = 64;
const TURN: Duration = Duration::from_micros(50);

/// Number of idle turns before a thread whose rank shares its processor sleeps between them.
const TURNS_BEFORE_SLEEP: u32 = 8;

impl<E: Endpoint> Engine<E> {
    /// Declares that several threads of the program use this library, of which `others` admits one at a time. From then
    /// on every wait admits the others, and nothing waits inside the endpoint once there are several.
    pub fn share_between_threads(&self, others: &'static dyn OtherThreads) {
        if self.others.set(others).is_ok()
            && let Ok(mut endpoint) = self.endpoint()
            && let Some(reports) = wait_reports(&mut *endpoint)
        {
            reports.expect_other_ends(Rc::new(EndsByThreads(others)));
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
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
    ) -> Result {
        let mut number = None;
        let outcome = self.take_turns(others, &mut number, done, unsatisfiable);
        if let Some(wait) = number {
            others.end_long_wait(wait);
            if let Ok(mut endpoint) = self.endpoint() {
                wait_reports(&mut *endpoint).into_iter().for_each(|reports| reports.end());
            }
        }
        outcome
    }

    /// The turns of a wait, which gets a `number` once it is long.
    fn take_turns(
        &self,
        others: &'static dyn OtherThreads,
        number: &mut Option<u64>,
        done: &mut dyn FnMut(&mut E) -> bool,
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
    ) -> Result {
        let (mut turns, mut report_at) = (0_u32, None);
        loop {
            let (begin, mut polls) = (Instant::now(), 0_u32);
            // A thread that has always been alone waits as if there were no others, until another one appears.
            let is_over = &mut || {
                polls += 1;
                let is_long = polls >= POLLS || begin.elapsed() >= TURN;
                others.is_wanted() || (others.are_several() && is_long)
            };
            if self.wait_for_a_turn(done, unsatisfiable, is_over)? {
                return Ok(());
            }
            let due = *report_at.get_or_insert(begin + REPORT_INTERVAL);
            if others.are_several() && begin >= due {
                report_at = Some(begin + REPORT_INTERVAL);
                if self.poll_and_report(others, number, done, unsatisfiable)? {
                    return Ok(());
                }
            }
            turns = turns.saturating_add(1);
            others.let_in(!self.has_processor && turns >= TURNS_BEFORE_SLEEP);
        }
    }

    /// Polls for everything, and reports to the launcher if the poll was idle. Returns whether the wait is over.
    fn poll_and_report(
        &self,
        others: &'static dyn OtherThreads,
        number: &mut Option<u64>,
        done: &mut dyn FnMut(&mut E) -> bool,
        unsatisfiable: &dyn Fn(&mut dyn LongWaits) -> Option<Request>,
    ) -> Result<bool> {
        let mut endpoint = self.endpoint()?;
        let wait = number_of_wait(&mut *endpoint, others, number);
        wait_reports(&mut *endpoint).into_iter().for_each(|reports| reports.begin());
        endpoint.progress(None)?;
        match self.check_wait(&mut endpoint, done, unsatisfiable) {
            Found::End => Ok(true),
            Found::Unsatisfiable(request) => Err(give_up_on(&mut *endpoint, request).into()),
            Found::Nothing => {
                let place = others.note_idle_poll(wait);
                endpoint.long_waits().into_iter().for_each(|waits| waits.report(place));
                Ok(false)
            }
        }
    }
}

/// Returns the number of a long wait, which begins with the first call.
pub(super) fn number_of_wait<E: Endpoint>(
    endpoint: &mut E,
    others: &'static dyn OtherThreads,
    number: &mut Option<u64>,
) -> u64 {
    *number.get_or_insert_with(|| {
        // The rank has one more wait than was reported.
        wait_reports(&mut *endpoint).into_iter().for_each(|reports| reports.end());
        others.begin_long_wait()
    })
}
