//! The watch over the progress of a run, which asks ranks what they wait for if there is none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::activity::{Activity, RankActivity, ThreadWait};
use super::error::{ACTIVITIES, HANG, LaunchError, standstill_in_words};
use super::standstill::{RankState, Standstill};
use super::whole_run::{HostPart, WholeRun};
use crate::memory::RunMemory;
use crate::page::State;

/// Intervals of the checks of the ranks: while one of them is in a long wait, and while none is.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(300);
/// Time limit for answers. Waiting ranks answer when their next sleep runs out.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// Time after which a rank that has not reported a poll does something else.
const POLLS_END_AFTER: Duration = Duration::from_secs(1);

/// Actions of the launcher if ranks wait.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Action if no rank can continue.
    pub on_hang: OnHang,
    /// Also report the activity of all ranks whenever none has moved for this long.
    pub standstill: Option<Duration>,
    /// Ends the run after this time.
    pub limit: Option<Duration>,
    /// Receives the activity of all ranks: after a standstill, on SIGUSR1, and on a hang that does not end the run. If
    /// the ranks are a part of a larger run, whoever started that run receives it instead.
    pub report: fn(&str, &[RankActivity]),
}

/// Action on a run in which no rank can ever continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHang {
    /// Ends the run.
    End,
    /// Reports the hang once, and leaves the ranks unchanged.
    Report,
    /// Does not look for hangs, because ranks may wait for something that this launcher does not see. Whoever started
    /// the whole run may look for hangs of that ([`LaunchOptions::whole_run`](super::LaunchOptions::whole_run)).
    Ignore,
}

/// The reason why the ranks are asked for their activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Hang,
    /// Whoever started the whole run asks.
    WholeRun,
    Standstill(Duration),
    Signal,
    /// The time of the run is over.
    Limit(Duration),
}

/// The watch over one run.
pub(super) struct Watcher {
    watch: Watch,
    /// The limit of the run, and the end of that time, until it has passed.
    limit: Option<(Duration, Instant)>,
    /// Numbers of the ranks in reports, if they are not their own.
    names: Vec<usize>,
    whole_run: Option<HostPart>,
    standstill: Standstill,
    /// Duration of the standstill at its last report.
    reported_standstill: Duration,
    has_reported_hang: bool,
    /// True if some rank is in a long wait.
    does_any_wait: bool,
    question: u32,
    /// The latest polls of each rank whose program polls, and when they were first seen.
    polls: Vec<Option<(u64, Instant)>>,
    /// The reason why the ranks were asked, and the time limit for their answers.
    request_in_progress: Option<(Reason, Instant)>,
}

impl Watcher {
    /// Creates the watch over ranks with these numbers in reports, which may be a part of a larger run.
    pub(super) fn new(
        watch: Watch,
        names: Vec<usize>,
        whole_run: Option<Arc<dyn WholeRun>>,
    ) -> Self {
        Watcher {
            watch,
            limit: watch.limit.map(|limit| (limit, Instant::now() + limit)),
            names,
            whole_run: whole_run.map(HostPart::new),
            standstill: Standstill::default(),
            reported_standstill: Duration::ZERO,
            has_reported_hang: false,
            does_any_wait: false,
            question: 0,
            polls: Vec::new(),
            request_in_progress: None,
        }
    }

    /// Asks the ranks for their activity, on request of the user.
    pub(super) fn request(&mut self, memory: &RunMemory) {
        self.request_for(Reason::Signal, memory);
    }

    /// Returns the time until the next check.
    pub(super) fn interval(&self) -> Duration {
        let interval = match self.does_any_wait || self.request_in_progress.is_some() {
            true => CHECK_INTERVAL,
            false => IDLE_CHECK_INTERVAL,
        };
        let rest = self.limit.map(|(_, end)| end.saturating_duration_since(Instant::now()));
        rest.map_or(interval, |rest| rest.min(interval))
    }

    /// Checks the state of the ranks. Returns why the run must end, if it must.
    pub(super) fn check(&mut self, memory: &RunMemory) -> Option<LaunchError> {
        let now = Instant::now();
        let mut ranks: Vec<RankState> =
            (0..memory.ranks()).map(|rank| state(memory, rank)).collect();
        self.note_polls(now, &mut ranks);
        self.does_any_wait = ranks.iter().any(|rank| matches!(rank, RankState::Waits(_)));
        let stands = self.standstill.note(now, &ranks);
        if stands == Duration::ZERO {
            self.reported_standstill = Duration::ZERO;
            self.has_reported_hang = false;
        }
        if let Some(part) = &mut self.whole_run {
            part.note(now, &ranks, stands);
        }
        if let Some((reason, until)) = self.request_in_progress {
            if self.has_answered(memory, &ranks) || now >= until {
                self.request_in_progress = None;
                return self.report(reason, memory);
            }
            return None;
        }
        if self.whole_run.as_ref().is_some_and(|part| part.run().requests_activities()) {
            self.request_for(Reason::WholeRun, memory);
            return None;
        }
        if let Some((limit, _)) = self.limit.take_if(|(_, end)| now >= *end) {
            self.request_for(Reason::Limit(limit), memory);
            return None;
        }
        let detects_hangs = self.watch.on_hang != OnHang::Ignore && !self.has_reported_hang;
        if detects_hangs && self.standstill.is_for_ever(now, &ranks) {
            self.request_for(Reason::Hang, memory);
        } else if let Some(limit) = self.watch.standstill
            && stands >= self.reported_standstill + limit
            && self.does_any_wait
        {
            self.reported_standstill = stands;
            self.request_for(Reason::Standstill(stands), memory);
        }
        None
    }

    /// Takes ranks whose programs have stopped polling for ranks that run: they do not say so.
    fn note_polls(&mut self, now: Instant, ranks: &mut [RankState]) {
        self.polls.resize(ranks.len(), None);
        for (earlier, rank) in self.polls.iter_mut().zip(ranks) {
            let polls = match rank {
                RankState::Waits(wait) if wait.found.is_of_program => wait.polls,
                _ => {
                    *earlier = None;
                    continue;
                }
            };
            match earlier {
                Some((before, since)) if *before == polls => {
                    if now.duration_since(*since) >= POLLS_END_AFTER {
                        *rank = RankState::Runs;
                    }
                }
                _ => *earlier = Some((polls, now)),
            }
        }
    }

    fn has_answered(&self, memory: &RunMemory, ranks: &[RankState]) -> bool {
        ranks.iter().enumerate().all(|(rank, state)| match state {
            RankState::Waits(_) => {
                memory.rank_page(rank).wait_note().answer_to(self.question).is_some()
            }
            _ => true,
        })
    }

    fn request_for(&mut self, reason: Reason, memory: &RunMemory) {
        self.question += 1;
        for rank in 0..memory.ranks() {
            memory.rank_page(rank).wait_note().request(self.question);
        }
        self.request_in_progress = Some((reason, Instant::now() + ANSWER_LIMIT));
    }

    fn report(&mut self, reason: Reason, memory: &RunMemory) -> Option<LaunchError> {
        let activity = |rank| RankActivity {
            rank: self.names.get(rank).copied().unwrap_or(rank),
            host: None,
            activity: self.activity(memory, rank),
        };
        let ranks: Vec<RankActivity> = (0..memory.ranks()).map(activity).collect();
        let report = self.watch.report;
        match reason {
            Reason::Hang if self.watch.on_hang == OnHang::End => {
                return Some(LaunchError::Hang { ranks });
            }
            Reason::Limit(limit) => return Some(LaunchError::OutOfTime { limit, ranks }),
            Reason::Hang => {
                self.has_reported_hang = true;
                report(HANG, &ranks);
            }
            Reason::Standstill(time) => {
                report(&standstill_in_words(time), &ranks);
            }
            Reason::WholeRun | Reason::Signal if self.whole_run.is_some() => {
                self.whole_run.iter().for_each(|part| part.run().report_activities(&ranks));
            }
            Reason::WholeRun | Reason::Signal => report(ACTIVITIES, &ranks),
        }
        None
    }

    fn activity(&self, memory: &RunMemory, rank: usize) -> Activity {
        let block = memory.rank_page(rank);
        let process = block.process();
        match block.state() {
            State::Starting => Activity::NotJoined,
            State::Finished | State::Failed => Activity::Finished,
            State::Alive | State::Leaving => match block.wait_note().read() {
                None => Activity::of_process(process),
                Some(wait) => match block.wait_note().answer_to(self.question) {
                    Some(answer) => Activity::of_answer(&answer, process, wait.found.is_of_program),
                    // It has stopped polling.
                    None if wait.found.is_of_program => Activity::of_process(process),
                    None => {
                        Activity::Waits { waits: vec![ThreadWait::default()], remarks: Vec::new() }
                    }
                },
            },
        }
    }
}

fn state(memory: &RunMemory, rank: usize) -> RankState {
    let block = memory.rank_page(rank);
    match block.state() {
        State::Finished => RankState::Finished,
        State::Starting | State::Failed => RankState::Runs,
        State::Alive | State::Leaving => match block.wait_note().read() {
            Some(wait) => RankState::Waits(wait),
            None => RankState::Runs,
        },
    }
}
