//! The search for a standstill of all ranks of a run, which the processes of hosts have started: no rank moves for some
//! time, although some may be able to.

use std::time::{Duration, Instant};

use launcher::Word;

/// The hosts whose ranks stand still.
pub(super) struct QuietHosts {
    /// The time without a move after which a host announces that, and between two reports.
    limit: Duration,
    /// Whether ranks of a host wait, if it is quiet.
    hosts: Vec<Option<bool>>,
    /// The moment since which all are, and the number of reports since then.
    all_since: Option<(Instant, u32)>,
}

impl QuietHosts {
    pub(super) fn new(limit: Duration, hosts: usize) -> Self {
        QuietHosts { limit, hosts: vec![None; hosts], all_since: None }
    }

    /// Records what the launcher of a host has announced.
    pub(super) fn take(&mut self, host: usize, word: Word, now: Instant) {
        match word {
            Word::Stand { .. } => {}
            Word::Quiet { waits } => self.set(host, Some(waits), now),
            Word::Move => self.set(host, None, now),
        }
    }

    /// Records that all ranks of a host have ended.
    pub(super) fn note_end(&mut self, host: usize, now: Instant) {
        self.set(host, Some(false), now);
    }

    fn set(&mut self, host: usize, quiet: Option<bool>, now: Instant) {
        self.hosts[host] = quiet;
        let are_all = self.hosts.iter().all(Option::is_some);
        let waits = self.hosts.contains(&Some(true));
        match are_all && waits {
            true => drop(self.all_since.get_or_insert((now, 0))),
            false => self.all_since = None,
        }
    }

    /// Returns for how long no rank has moved, whenever that is to be reported again.
    pub(super) fn due(&mut self, now: Instant) -> Option<Duration> {
        let (since, reports) = self.all_since.as_mut()?;
        let stands = self.limit + now.duration_since(*since);
        let is_due = stands >= self.limit * (*reports + 1);
        is_due.then(|| *reports = (stands.as_secs_f64() / self.limit.as_secs_f64()) as u32);
        is_due.then_some(stands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn a_standstill_of_all_hosts_is_due_once_in_each_interval() {
        let (mut quiet, begin) = (QuietHosts::new(LIMIT, 2), Instant::now());
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        quiet.take(0, Word::Quiet { waits: true }, at(0));
        assert_eq!(quiet.due(at(30)), None, "the other host moves");
        quiet.take(1, Word::Quiet { waits: false }, at(30));
        assert_eq!(quiet.due(at(31)), Some(Duration::from_secs(11)));
        assert_eq!((quiet.due(at(32)), quiet.due(at(39))), (None, None));
        assert_eq!(quiet.due(at(41)), Some(Duration::from_secs(21)));
        // After a gap of two intervals there is one report.
        assert_eq!(quiet.due(at(65)), Some(Duration::from_secs(45)));
        assert_eq!((quiet.due(at(66)), quiet.due(at(70))), (None, Some(Duration::from_secs(50))));
        quiet.take(0, Word::Move, at(71));
        assert_eq!(quiet.due(at(99)), None);
        quiet.take(0, Word::Quiet { waits: true }, at(100));
        assert_eq!(quiet.due(at(100)), Some(LIMIT));
    }

    #[test]
    fn hosts_without_a_waiting_rank_are_no_standstill_and_ended_hosts_prevent_none() {
        let (mut quiet, now) = (QuietHosts::new(LIMIT, 2), Instant::now());
        quiet.take(0, Word::Quiet { waits: false }, now);
        quiet.take(1, Word::Quiet { waits: false }, now);
        assert_eq!(quiet.due(now + LIMIT), None);
        quiet.take(1, Word::Move, now);
        quiet.take(1, Word::Quiet { waits: true }, now);
        assert_eq!(quiet.due(now), Some(LIMIT));
        quiet.take(0, Word::Move, now);
        quiet.note_end(0, now);
        assert_eq!(quiet.due(now), Some(LIMIT));
    }
}
