//! Polls that are answered in the process: before a moment that a reply contains, nothing can arrive.
//!
//! A program that polls makes a request again and again, and each request costs switches between processes. Other ranks
//! compute meanwhile, and the simulation has a bound of their progress.

use std::cell::Cell;

use contract::{Selector, Time, TimeSpan};

use crate::reply::VALUES;

/// The reply to the last idle poll, and the time of the polls since then.
#[derive(Default)]
pub(crate) struct Quiet {
    /// Nothing arrives before this moment; `None` if no such moment is known.
    until: Cell<Option<Time>>,
    /// The selector of the last probe that found nothing. Another selector may match a message that is there.
    probed: Cell<Option<Selector>>,
    /// Time of a poll.
    polling: Cell<TimeSpan>,
    /// Time of the polls since then, which made no request.
    polled: Cell<TimeSpan>,
}

/// Returns the values of a reply to an idle poll: 0, the current time, the time until which nothing arrives, and the
/// time of a poll.
pub(crate) fn quiet_values(now: Time, until: Time, polling: TimeSpan) -> [u64; VALUES] {
    [0, now.as_ps(), until.as_ps(), polling.as_ps(), 0, 0]
}

impl Quiet {
    /// Ends the quiet time, because the process makes a request that may change the state.
    pub(crate) fn end(&self) {
        self.until.set(None);
    }

    /// Records the reply to a poll, by a probe with `selector` if there is one. Returns the time if `values` contain
    /// it.
    pub(crate) fn learn(&self, values: [u64; VALUES], selector: Option<Selector>) -> Option<Time> {
        let [found, now, until, polling, ..] = values;
        if found != 0 || until == 0 {
            self.end();
            return None;
        }
        let now = Time::from_ps(now);
        let was_quiet = self.until.get().is_some_and(|until| now < until);
        let probed = selector.or(self.probed.get().filter(|_| was_quiet));
        self.probed.set(probed);
        self.until.set(Some(Time::from_ps(until)));
        self.polling.set(TimeSpan::from_ps(polling));
        Some(now)
    }

    /// Returns whether a poll finds nothing, because it is over before anything can arrive. It then takes its time.
    pub(crate) fn finds_nothing(&self, now: Time, selector: Option<Selector>) -> bool {
        let after = now + self.polling.get();
        let is_quiet = self.until.get().is_some_and(|until| after < until)
            && selector.is_none_or(|one| self.probed.get() == Some(one));
        if is_quiet {
            self.polled.set(self.polled.get() + self.polling.get());
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

    #[test]
    fn polls_are_idle_until_something_may_arrive() {
        let quiet = Quiet::default();
        assert!(!quiet.finds_nothing(at(0), None));
        let told = quiet_values(at(100), at(200), TimeSpan::from_ps(30));
        assert_eq!(quiet.learn(told, None), Some(at(100)));
        // Polls at 100 and 169 end at 130 and 199; one at 170 ends when a message may have arrived.
        assert_eq!(
            [100, 169, 170].map(|ps| quiet.finds_nothing(at(ps), None)),
            [true, true, false]
        );
        assert_eq!(quiet.polled(), TimeSpan::from_ps(60));
        assert_eq!((quiet.take_polled(), quiet.polled()), (TimeSpan::from_ps(60), TimeSpan::ZERO));
        quiet.end();
        assert!(!quiet.finds_nothing(at(100), None));
    }

    #[test]
    fn a_probe_tells_nothing_of_other_messages() {
        let quiet = Quiet::default();
        let told = |now| quiet_values(at(now), at(200), TimeSpan::from_ps(1));
        quiet.learn(told(0), None);
        assert!(!quiet.finds_nothing(at(1), Some(selector(1))));
        quiet.learn(told(1), Some(selector(1)));
        assert!(quiet.finds_nothing(at(2), Some(selector(1))) && quiet.finds_nothing(at(2), None));
        assert!(!quiet.finds_nothing(at(2), Some(selector(2))));
        // A test during the quiet time changes nothing; one after it does not count for the probe.
        quiet.learn(told(3), None);
        assert!(quiet.finds_nothing(at(4), Some(selector(1))));
        quiet.learn(quiet_values(at(300), at(400), TimeSpan::from_ps(1)), None);
        assert!(!quiet.finds_nothing(at(301), Some(selector(1))));
        // A message that is found ends it.
        assert_eq!(quiet.learn([1, 300, 400, 1, 0, 0], Some(selector(1))), None);
        assert!(!quiet.finds_nothing(at(301), None));
    }
}
