//! Reports about the ranks of a run that the processes of hosts have started: of a hang, of a standstill, and on
//! request. The hosts send the activities of their ranks, and this process prints those of all together.

use std::time::{Duration, Instant};

use launcher::{
    ACTIVITIES, HANG, HangSearch, LaunchError, NextStep, OnHang, RankActivity, Watch, Word,
    standstill_in_words,
};

use super::quiet::QuietHosts;
use super::started_process::StartedProcess;
use crate::activities;
use crate::control::Message;

/// Time limit for the hosts' answers.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The search for a hang or a standstill, and the reports.
pub(super) struct Hangs {
    watch: Watch,
    search: HangSearch,
    quiet: Option<QuietHosts>,
    /// The limit of the run, and the end of that time.
    limit: Option<(Duration, Instant)>,
    /// The answers of hosts to the question in progress.
    answers: Option<Answers>,
}

/// The reason why the hosts are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Hang,
    Standstill(Duration),
    Request,
    /// The time of the run is over.
    Limit(Duration),
}

struct Answers {
    reason: Reason,
    until: Instant,
    /// Number of answers that are still missing.
    missing: usize,
    ranks: Vec<RankActivity>,
}

impl Hangs {
    /// Creates the search among `hosts` hosts, if `watch` requests one.
    pub(super) fn new(watch: Option<Watch>, hosts: usize) -> Option<Self> {
        let watch = watch.filter(|watch| watch.on_hang != OnHang::Ignore)?;
        let quiet = watch.standstill.map(|limit| QuietHosts::new(limit, hosts));
        let limit = watch.limit.map(|limit| (limit, Instant::now() + limit));
        Some(Hangs { watch, search: HangSearch::new(hosts), quiet, limit, answers: None })
    }

    /// Records what the launcher of `host` has announced, and asks the launchers of all `hosts` what follows from it.
    pub(super) fn take_word(&mut self, host: usize, word: Word, hosts: &[StartedProcess]) {
        self.quiet.iter_mut().for_each(|quiet| quiet.take(host, word, Instant::now()));
        match self.search.take(host, word) {
            NextStep::Wait => {}
            NextStep::Request(round) => {
                for process in hosts {
                    process.send(&Message::Round(round));
                }
            }
            NextStep::Hang => {
                // A question in progress is answered with the same.
                let earlier = self.answers.take();
                self.send_request(Reason::Hang, &Message::RequestActivities, hosts);
                if let (Some(answers), Some(earlier)) = (&mut self.answers, earlier) {
                    answers.missing += earlier.missing;
                }
            }
        }
    }

    /// Records that all ranks of a host have ended.
    pub(super) fn note_end(&mut self, host: usize) {
        self.quiet.iter_mut().for_each(|quiet| quiet.note_end(host, Instant::now()));
    }

    /// Asks all `hosts` for the activities of their ranks, on request of the user.
    pub(super) fn request_report(&mut self, hosts: &[StartedProcess]) {
        if self.answers.is_none() {
            self.send_request(Reason::Request, &Message::ReportRanks, hosts);
        }
    }

    fn send_request(&mut self, reason: Reason, question: &Message, hosts: &[StartedProcess]) {
        let until = Instant::now() + ANSWER_LIMIT;
        let missing = hosts.iter().filter(|process| process.send(question)).count();
        self.answers = Some(Answers { reason, until, missing, ranks: Vec::new() });
    }

    /// Records the activities of the ranks of a host.
    pub(super) fn take_activities(&mut self, from: usize, text: &str, hosts: &[StartedProcess]) {
        let mut ranks = activities::from_text(text);
        let names_host = self.answers.as_ref().is_none_or(|one| one.reason != Reason::Hang);
        if names_host && hosts.len() > 1 {
            ranks.iter_mut().for_each(|one| one.host = Some(hosts[from].host.clone()));
        }
        match &mut self.answers {
            Some(answers) => {
                answers.missing = answers.missing.saturating_sub(1);
                answers.ranks.extend(ranks);
            }
            // The user has sent the signal to the process of the host.
            None => (self.watch.report)(ACTIVITIES, &ranks),
        }
    }

    /// Returns the reason why the run must end: a hang, or the end of its time. Reports what the `hosts` were asked for,
    /// once all have answered, and asks them if the ranks stand still.
    pub(super) fn find(&mut self, hosts: &[StartedProcess]) -> Option<LaunchError> {
        let now = Instant::now();
        if self.answers.is_none()
            && let Some((limit, _)) = self.limit.filter(|(_, end)| now >= *end)
        {
            self.send_request(Reason::Limit(limit), &Message::RequestActivities, hosts);
        }
        if self.answers.is_none()
            && let Some(stands) = self.quiet.as_mut().and_then(|quiet| quiet.due(now))
        {
            self.send_request(Reason::Standstill(stands), &Message::RequestActivities, hosts);
        }
        let is_complete = |answers: &mut Answers| answers.missing == 0 || now >= answers.until;
        let Answers { reason, mut ranks, .. } = self.answers.take_if(is_complete)?;
        ranks.sort_by_key(|one| one.rank);
        ranks.dedup_by_key(|one| one.rank);
        match reason {
            Reason::Hang if self.watch.on_hang == OnHang::End => {
                return Some(LaunchError::Hang { ranks });
            }
            Reason::Hang => (self.watch.report)(HANG, &ranks),
            Reason::Limit(limit) => return Some(LaunchError::OutOfTime { limit, ranks }),
            Reason::Standstill(stands) => {
                (self.watch.report)(&standstill_in_words(stands), &ranks);
            }
            Reason::Request => (self.watch.report)(ACTIVITIES, &ranks),
        }
        None
    }
}
