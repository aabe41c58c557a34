//! Waits that no message ends, for a lock in memory that ranks share: they poll, never sleep, and report themselves.

use std::time::Instant;

use contract::{Awaited, Endpoint, REPORT_INTERVAL, WaitPlace, wait_reports};

use super::Engine;
use super::turns::number_of_wait;
use crate::error::Result;

/// Number of pauses between two polls.
const PAUSES: u32 = 100;

/// What a poll of such a wait has found.
pub(crate) enum Polled {
    /// The wait is over.
    Ended,
    /// It continues even if no other rank acts.
    Continues,
    /// Only another rank can end it.
    Waits(Awaited),
}

impl<E: Endpoint> Engine<E> {
    /// Makes progress on everything until `poll` returns [`Polled::Ended`]. It may use the endpoint, and must not wait.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn poll_until(&self, poll: &mut dyn FnMut(&mut E) -> Polled) -> Result {
        let (mut number, mut has_reported) = (None, false);
        let outcome = self.poll_and_report_until(poll, &mut number, &mut has_reported);
        if let (Some(wait), Some(others)) = (number, self.others.get()) {
            others.end_long_wait(wait);
        }
        if has_reported && let Ok(mut endpoint) = self.endpoint() {
            wait_reports(&mut *endpoint).into_iter().for_each(|reports| reports.end());
        }
        outcome
    }

    fn poll_and_report_until(
        &self,
        poll: &mut dyn FnMut(&mut E) -> Polled,
        number: &mut Option<u64>,
        has_reported: &mut bool,
    ) -> Result {
        let mut report_at = None;
        while !matches!(poll(&mut *self.endpoint()?), Polled::Ended) {
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            self.progress()?;
            self.let_others_in();
            std::thread::yield_now();
            let now = Instant::now();
            if now >= *report_at.get_or_insert(now + REPORT_INTERVAL) {
                report_at = Some(now + REPORT_INTERVAL);
                *has_reported = true;
                if self.report_poll(poll, number)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Polls for everything, and reports to the launcher if only another rank can end the wait. Returns whether the
    /// wait is over.
    fn report_poll(
        &self,
        poll: &mut dyn FnMut(&mut E) -> Polled,
        number: &mut Option<u64>,
    ) -> Result<bool> {
        let mut endpoint = self.endpoint()?;
        let others = self.others.get().copied();
        let wait = others.map(|others| number_of_wait(&mut *endpoint, others, number));
        wait_reports(&mut *endpoint).into_iter().for_each(|reports| reports.begin());
        endpoint.progress(None)?;
        self.activities.advance(&mut endpoint);
        match poll(&mut endpoint) {
            Polled::Ended => return Ok(true),
            Polled::Continues => {}
            Polled::Waits(awaited) => {
                if let Some(reports) = wait_reports(&mut *endpoint) {
                    reports.note_sole_awaited(awaited);
                }
                let place = others.zip(wait).map(|(others, wait)| others.note_idle_poll(wait));
                if let Some(waits) = endpoint.long_waits() {
                    waits.report(place.unwrap_or(WaitPlace::ALONE));
                }
            }
        }
        Ok(false)
    }
}
