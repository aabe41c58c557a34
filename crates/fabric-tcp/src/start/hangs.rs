//! Hangs of a run whose ranks the processes of hosts have started.

use std::time::{Duration, Instant};

use fabric_shm::{HANG, HangSearch, LaunchError, NextStep, OnHang, RankActivity, Watch, Word};

use super::started_process::StartedProcess;
use crate::activities;
use crate::control::Message;

/// Time limit for the hosts' answers of what their ranks wait for.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The search for a hang.
pub(super) struct Hangs {
    watch: Watch,
    search: HangSearch,
    /// The answers of hosts once a hang is proved.
    answers: Option<Answers>,
}

struct Answers {
    until: Instant,
    hosts: usize,
    ranks: Vec<RankActivity>,
}

impl Hangs {
    /// Creates the search among `hosts` hosts, if `watch` requests one.
    pub(super) fn new(watch: Option<Watch>, hosts: usize) -> Option<Self> {
        let watch = watch.filter(|watch| watch.on_hang != OnHang::Ignore)?;
        Some(Hangs { watch, search: HangSearch::new(hosts), answers: None })
    }

    /// Records what the launcher of `host` has announced, and asks the launchers of all `hosts` what follows from it.
    pub(super) fn take_word(&mut self, host: usize, word: Word, hosts: &[StartedProcess]) {
        let message = match self.search.take(host, word) {
            NextStep::Wait => return,
            NextStep::Ask(round) => Message::Round(round),
            NextStep::Hang => {
                let until = Instant::now() + ANSWER_LIMIT;
                self.answers = Some(Answers { until, hosts: 0, ranks: Vec::new() });
                Message::AskActivities
            }
        };
        hosts.iter().for_each(|process| process.send(&message));
    }

    /// Records what the ranks of a host wait for.
    pub(super) fn take_activities(&mut self, text: &str) {
        if let Some(answers) = &mut self.answers {
            answers.hosts += 1;
            answers.ranks.extend(activities::from_text(text));
        }
    }

    /// Returns the error of a hang that must end the run, or reports the hang, once all of `hosts` hosts have answered.
    pub(super) fn find(&mut self, hosts: usize) -> Option<LaunchError> {
        let is_complete =
            |answers: &mut Answers| answers.hosts == hosts || Instant::now() >= answers.until;
        let mut ranks = self.answers.take_if(is_complete)?.ranks;
        ranks.sort_by_key(|one| one.rank);
        match self.watch.on_hang {
            OnHang::End => Some(LaunchError::Hang { ranks }),
            OnHang::Report | OnHang::Ignore => {
                (self.watch.report)(HANG, &ranks);
                None
            }
        }
    }
}
