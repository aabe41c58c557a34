//! The search for hangs of a run on several hosts, as the launcher of a host takes part in it.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use launcher::{RankActivity, WholeRun, Word};

use crate::activities;
use crate::control::{Message, send};

/// What a host needs to know for that.
#[derive(Clone, Copy, Debug)]
pub struct HostWatch {
    /// Number of ranks of the run.
    pub ranks: usize,
    /// The time without a move after which the host announces that its ranks are quiet, if at all.
    pub quiet_after: Option<Duration>,
    /// Returns for each rank the lines that describe what it does, the first one without its subject.
    pub describe: fn(&[RankActivity]) -> Vec<Vec<String>>,
}

/// The questions of the process that started the run, which another thread of the host's process receives.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    round: AtomicU32,
    requests_activities: AtomicBool,
}

impl Questions {
    /// Records the question of a message, if it has one.
    pub(crate) fn take(&self, message: &Message) {
        // Relaxed: these numbers guard no other memory.
        match message {
            Message::Round(round) => self.round.store(*round, Ordering::Relaxed),
            Message::RequestActivities => self.requests_activities.store(true, Ordering::Relaxed),
            _ => {}
        }
    }
}

/// The run, as the launcher of a host knows it.
#[derive(Debug)]
pub(crate) struct RunOfHost {
    pub(crate) watch: HostWatch,
    pub(crate) questions: Arc<Questions>,
    /// The connection to the process that started the run.
    pub(crate) control: TcpStream,
}

impl RunOfHost {
    fn send(&self, message: &Message) {
        // If that process is gone, the run ends.
        let _ = send(&self.control, message);
    }
}

impl WholeRun for RunOfHost {
    fn ranks(&self) -> usize {
        self.watch.ranks
    }

    fn round(&self) -> u32 {
        self.questions.round.load(Ordering::Relaxed)
    }

    fn quiet_after(&self) -> Option<Duration> {
        self.watch.quiet_after
    }

    fn announce(&self, word: Word) {
        self.send(&Message::LauncherWord(word));
    }

    fn requests_activities(&self) -> bool {
        self.questions.requests_activities.swap(false, Ordering::Relaxed)
    }

    fn report_activities(&self, ranks: &[RankActivity]) {
        let lines = (self.watch.describe)(ranks);
        self.send(&Message::Activities(activities::to_text(ranks, &lines)));
    }
}
