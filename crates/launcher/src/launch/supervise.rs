//! Supervision of the ranks of a run until the last has ended.

use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::process::{Process, describe, shell_status};
use super::signals::Signals;
use super::watch::Watcher;
use super::{LaunchError, LaunchOptions};
use crate::memory::RunMemory;
use crate::page::State;

/// Time in which ranks may end by themselves after the run is aborted, before they are killed.
const GRACE: Duration = Duration::from_millis(300);
/// Interval of the checks for ranks that have ended, on systems without descriptors of processes.
const END_CHECK: Duration = Duration::from_millis(10);

/// Supervises ranks, passes their reports on, and ends the run on a failure.
pub(super) struct Supervisor<'a> {
    memory: &'a RunMemory,
    signals: &'a Signals,
    running: Vec<Process>,
    signal: Option<i32>,
    /// True if the receiver of the reports has returned `Break`.
    stopped: bool,
    /// The first failure, and the time at which the remaining ranks are killed.
    failure: Option<LaunchError>,
    kill_at: Option<Instant>,
    /// True if the ranks run any program, which may never join.
    any_program: bool,
    watcher: Option<Watcher>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        memory: &'a RunMemory,
        signals: &'a Signals,
        options: &LaunchOptions,
    ) -> Self {
        Supervisor {
            memory,
            signals,
            running: Vec::new(),
            signal: None,
            stopped: false,
            failure: None,
            kill_at: None,
            any_program: options.any_program,
            watcher: options.watch.map(|watch| {
                Watcher::new(watch, options.rank_names.clone(), options.whole_run.clone())
            }),
        }
    }

    pub(super) fn add(&mut self, process: Process) {
        self.running.push(process);
    }

    /// Aborts the run: waiting ranks return with an error, and those that do not end soon are killed.
    pub(super) fn abort(&mut self, rank: Option<usize>, why: &str) {
        let abort = &self.memory.run_page().abort;
        match rank {
            Some(rank) => abort.raise_death(rank, why),
            None => abort.raise(None, why),
        };
        self.memory.wake_all();
        self.kill_at.get_or_insert_with(|| Instant::now() + GRACE);
    }

    /// Runs until every rank has ended.
    pub(super) fn run(&mut self, on_report: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) {
        let mut stopped = false;
        while !self.running.is_empty() {
            let ready = self.poll();
            self.pass_signals_on();
            // Later reports are read, so that no rank blocks on a full pipe, and dropped.
            let on_report = &mut |report: &[u8]| {
                stopped = stopped || on_report(report).is_break();
            };
            let mut index = 0;
            for (reports_ready, ended) in ready {
                if reports_ready {
                    self.running[index].reports.read(on_report);
                }
                if ended {
                    self.collect(index, on_report);
                } else {
                    index += 1;
                }
            }
            if stopped && !self.stopped {
                self.stopped = true;
                self.abort(None, "stopped by the receiver of the reports");
            }
            self.note_failures();
            self.check_progress();
            self.kill_if_overdue();
        }
    }

    /// Ends the run if no rank can ever continue, or if its time is over.
    fn check_progress(&mut self) {
        if self.kill_at.is_some() || self.running.is_empty() {
            return;
        }
        let Some(watcher) = &mut self.watcher else { return };
        if let Some(reason) = watcher.check(self.memory) {
            let why = match reason {
                LaunchError::Hang { .. } => "no rank could go on",
                _ => {
                    // A program may have something to do before it ends, as on a signal of the user.
                    self.running.iter().for_each(|process| process.signal(libc::SIGTERM));
                    "the time of the run is over"
                }
            };
            self.failure.get_or_insert(reason);
            self.abort(None, why);
        }
    }

    /// Returns the outcome of the run.
    pub(super) fn outcome(self) -> Result<(), LaunchError> {
        match (self.signal, self.failure) {
            (Some(signal), _) => Err(LaunchError::Interrupted { signal }),
            (None, _) if self.stopped => Err(LaunchError::Stopped),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(()),
        }
    }

    /// Sleeps until an event. Returns for each running rank whether it has reports and whether it has ended.
    fn poll(&mut self) -> Vec<(bool, bool)> {
        // The system ignores entries with a negative descriptor.
        let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut entries = vec![entry(self.signals.event.as_raw_fd())];
        for process in &self.running {
            entries.push(entry(process.reports.descriptor()));
            entries.push(entry(process.end().map_or(-1, |end| end.as_raw_fd())));
        }
        let limit = match (self.kill_at, &self.watcher) {
            (None, None) => None,
            (None, Some(watcher)) => Some(watcher.interval()),
            (Some(at), _) => Some(at.saturating_duration_since(Instant::now())),
        };
        let end_check =
            self.running.iter().any(|process| process.end().is_none()).then_some(END_CHECK);
        let limit = limit.into_iter().chain(end_check).min();
        let limit = limit.map_or(-1, |limit| limit.as_millis() as i32 + 1);
        // SAFETY: the entries are live, and their number is right. A signal that interrupts leaves no entry ready.
        unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit) };
        let readable = |entry: &libc::pollfd| entry.revents & (libc::POLLIN | libc::POLLHUP) != 0;
        let state = |(pair, process): (&[libc::pollfd], &Process)| {
            let has_ended = match process.end() {
                Some(_) => readable(&pair[1]),
                None => process.has_ended(),
            };
            (readable(&pair[0]), has_ended)
        };
        entries[1..].chunks(2).zip(&self.running).map(state).collect()
    }

    fn pass_signals_on(&mut self) {
        for signal in self.signals.to_pass() {
            let is_question = signal == libc::SIGUSR1 && self.watcher.is_some();
            if let Some(watcher) = self.watcher.as_mut().filter(|_| is_question) {
                watcher.request(self.memory);
            }
            // A question to the launcher must not end a program that does not know it.
            let receivers = self.running.iter().filter(|one| !is_question || one.handles(signal));
            receivers.for_each(|process| process.signal(signal));
        }
        if let Some(signal) = self.signals.first()
            && self.signal.is_none()
        {
            self.signal = Some(signal);
            if self.any_program {
                self.running.iter().for_each(|process| process.signal(signal));
            }
            self.abort(None, &format!("interrupted by {}", crate::system::signal_name(signal)));
        }
    }

    /// Collects a rank that has ended.
    fn collect(&mut self, index: usize, on_report: &mut dyn FnMut(&[u8])) {
        let mut process = self.running.remove(index);
        while process.reports.read(on_report) {}
        let rank = process.rank;
        let state = self.memory.rank_page(rank).state();
        let part = match (self.any_program, state) {
            // It may be a program that does not use the library.
            (true, State::Starting) => "",
            (true, _) => " without MPI_Finalize",
            (false, _) => " without finishing its part",
        };
        let (how, status) = match process.collect() {
            Ok(status) if status.success() => (format!("ended{part}"), 0),
            Ok(status) => (describe(status, part), shell_status(status)),
            Err(error) => (format!("ended, but its status cannot be had: {error}"), 1),
        };
        match state {
            State::Finished => {
                self.memory.wake_all();
                if self.any_program && status != 0 && self.failure.is_none() {
                    let reason = format!("ended with status {status}");
                    self.failure = Some(LaunchError::RankFailed { rank, reason, status });
                }
            }
            State::Failed => {}
            State::Starting if self.any_program && status == 0 => {
                // Not a failure for a program that passes no messages; ranks that join would wait for this one for
                // ever.
                self.memory.rank_page(rank).set_state(State::Failed);
                self.memory.run_page().abort.raise_death(rank, "ended without joining the run");
                self.memory.wake_all();
            }
            State::Starting | State::Alive | State::Leaving => {
                self.memory.rank_page(rank).set_state(State::Failed);
                let first = self.memory.run_page().abort.raise_death(rank, &how);
                self.abort(Some(rank), &how);
                let never_joined = state == State::Starting && self.any_program;
                if (first || never_joined) && self.failure.is_none() {
                    self.failure = Some(LaunchError::RankFailed { rank, reason: how, status });
                }
            }
        }
        // It may have reported itself why it failed; that must be known before its status can be added.
        self.note_failures();
        self.note_status(rank, status);
    }

    /// Adds the status of a rank that had reported its own failure.
    fn note_status(&mut self, ended: usize, with: u8) {
        if let Some(LaunchError::RankFailed { rank, status, .. }) = &mut self.failure
            && *rank == ended
            && with != 0
        {
            *status = with;
        }
    }

    /// Records a failure that a rank has reported itself.
    fn note_failures(&mut self) {
        if self.kill_at.is_some() && self.failure.is_some() {
            return;
        }
        if self.any_program && !self.memory.run_page().has_been_joined() {
            return;
        }
        let Some((Some(rank), why)) = self.memory.run_page().abort.reason() else { return };
        self.failure.get_or_insert(LaunchError::RankFailed {
            rank,
            reason: format!("failed: {why}"),
            status: 1,
        });
        self.abort(Some(rank), &why);
    }

    fn kill_if_overdue(&mut self) {
        if self.kill_at.is_some_and(|at| Instant::now() >= at) {
            for process in &mut self.running {
                process.kill();
            }
            // If one of them takes long to die, check again, but not without a pause.
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }
}
