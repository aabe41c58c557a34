//! Polls that are answered in the process: before a moment that a reply contains, nothing can arrive.
//!
//! A program that polls makes a request again and again, and each request costs switches between processes. Other ranks
//! compute meanwhile, and the simulation has a bound of their progress.

use std::cell::Cell;

use contract::{Selector, Time, TimeSpan};

use crate::wire::reply::QuietTime;

/// The reply to the last idle poll, and the time of the polls since then.
#[derive(Default)]
pub(crate) struct Quiet {
    /// `None` if no quiet time is known.
    time: Cell<Option<QuietTime>>,
    /// The selector of the last probe that found nothing. Another selector may match a message that is there.
    probed: Cell<Option<Selector>>,
    /// Time of the polls since then, which made no request.
    polled: Cell<TimeSpan>,
}

impl Quiet {
    /// Ends the quiet time, because the process makes a request that may change the state.
    pub(crate) fn end(&self) {
        self.time.set(None);
    }

    /// Records the reply to a poll, by a probe with `selector` if there is one: the quiet time, if it found nothing.
    pub(crate) fn note_poll(&self, quiet: Option<QuietTime>, selector: Option<Selector>) {
        let last = self.time.replace(quiet);
        let Some(QuietTime { now, .. }) = quiet else { return };
        let was_quiet = last.is_some_and(|last| now < last.until);
        self.probed.set(selector.or(self.probed.get().filter(|_| was_quiet)));
    }

    /// Returns whether a poll finds nothing, because it is over before anything can arrive. It then takes its time.
    pub(crate) fn finds_nothing(&self, now: Time, selector: Option<Selector>) -> bool {
        let Some(QuietTime { until, polling, .. }) = self.time.get() else { return false };
        let is_quiet =
            now + polling < until && selector.is_none_or(|one| self.probed.get() == Some(one));
        if is_quiet {
            self.polled.set(self.polled.get() + polling);
        }
        is_quiet
    }

    /// Returns the time of the polls that made no request.
    pub(crate) fn polled(&self) -> TimeSpan {
        self.polled.get()
    }

    /// As [`polled`](Self::polled), and resets it, because it is then reported.
    pub(crate) fn take_polled(&self) -> TimeSpan {
        self.polled.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn selector(tag: u32) -> Selector {
        Selector { context: 0, source: None, tag: Some(tag) }
    }

    /// Returns a quiet time with polls of `polling` ps.
    fn quiet(now: u64, until: u64, polling: u64) -> Option<QuietTime> {
        let polling = TimeSpan::from_ps(polling);
        Some(QuietTime { now: at(now), until: at(until), polling })
    }

    #[test]
    fn polls_are_idle_until_something_may_arrive() {
        let polls = Quiet::default();
        assert!(!polls.finds_nothing(at(0), None));
        polls.note_poll(quiet(100, 200, 30), None);
        // Polls at 100 and 169 end at 130 and 199; one at 170 ends when a message may have arrived.
        assert_eq!(
            [100, 169, 170].map(|ps| polls.finds_nothing(at(ps), None)),
            [true, true, false]
        );
        assert_eq!(polls.take_polled(), TimeSpan::from_ps(60));
        assert_eq!(polls.polled(), TimeSpan::ZERO);
        polls.end();
        assert!(!polls.finds_nothing(at(100), None));
    }

    #[test]
    fn a_probe_shows_nothing_of_other_messages() {
        let polls = Quiet::default();
        polls.note_poll(quiet(0, 200, 1), None);
        assert!(!polls.finds_nothing(at(1), Some(selector(1))));
        polls.note_poll(quiet(1, 200, 1), Some(selector(1)));
        assert!(polls.finds_nothing(at(2), Some(selector(1))) && polls.finds_nothing(at(2), None));
        assert!(!polls.finds_nothing(at(2), Some(selector(2))));
        // A test during the quiet time changes nothing; one after it does not count for the probe.
        polls.note_poll(quiet(3, 200, 1), None);
        assert!(polls.finds_nothing(at(4), Some(selector(1))));
        polls.note_poll(quiet(300, 400, 1), None);
        assert!(!polls.finds_nothing(at(301), Some(selector(1))));
        // A message that is found ends it.
        polls.note_poll(None, Some(selector(1)));
        assert!(!polls.finds_nothing(at(301), None));
    }
}
