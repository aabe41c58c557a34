//! Processes as the ranks of a simulated machine: the lines to them, and their computing.

mod clocks;
mod computing;
mod concurrent;

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use contract::{Error, Result, Time, TimeSpan};
use fabric_proxy::wire::job::Job;
use fabric_proxy::wire::line::{Line, Lines, RunState};
use launcher::system::close_on_exec;
use recording::{Recorder, RecordingError};

pub use computing::Computing;
pub(crate) use computing::{Call, RankComputing, Step, is_of_collectives};
pub(crate) use concurrent::ConcurrentComputing;

/// The processes of a run: [`run_processes`](crate::run_processes) lets them be the ranks of a machine.
pub struct Processes {
    lines: Lines,
    computing: Computing,
    /// True if no process will make a request any more.
    stopped: AtomicBool,
    stuck: AtomicBool,
    joined: AtomicBool,
    /// Recorder of the ranks' operations, if a recording is requested.
    recorder: Option<Mutex<Recorder>>,
    /// First error of this end that no process can report.
    fatal: Mutex<Option<String>>,
}

/// Times and counts of a rank's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankAccount {
    /// Computing time of its program.
    pub computing: TimeSpan,
    /// Time in which its program slept.
    pub sleeping: TimeSpan,
    /// Computing time of the process's other threads, which virtual time does not contain. Zero if computing is not
    /// measured.
    pub uncounted: TimeSpan,
    /// End of its part.
    pub end: Time,
    /// Number of calls of the endpoint that its process has made.
    pub calls: u64,
}

impl Processes {
    /// Creates the lines of `ranks` ranks. `recorder` records their events.
    ///
    /// # Errors
    /// The system's, if memory cannot be allocated.
    pub fn create(
        ranks: usize,
        computing: Computing,
        recorder: Option<Recorder>,
    ) -> io::Result<Self> {
        Ok(Processes {
            lines: Lines::create(ranks)?,
            computing,
            stopped: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            joined: AtomicBool::new(false),
            recorder: recorder.map(Mutex::new),
            fatal: Mutex::new(None),
        })
    }

    /// Returns the job that lets processes join here; `name` is the name of the fabric. From now on programs that this
    /// process starts inherit the memory.
    ///
    /// # Errors
    /// The system's.
    pub fn job(&self, name: &str) -> io::Result<Vec<u8>> {
        close_on_exec(self.lines.memory().as_fd(), false)?;
        let memory = self.lines.memory().as_raw_fd();
        Ok(Job { memory, factor: self.computing.factor(), name: name.into() }.bytes())
    }

    /// Returns one end of a line.
    pub(crate) fn line(&self, rank: usize) -> Line {
        self.lines.line(rank)
    }

    /// Announces that no process will make further requests: waits for one end.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.lines.set_state(RunState::Over);
    }

    /// Returns whether any process has joined.
    pub fn has_been_joined(&self) -> bool {
        self.joined.load(Ordering::Acquire)
    }

    /// Returns whether the run has ended because all ranks waited for each other.
    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire)
    }

    /// Ends the recording, if there is one.
    ///
    /// # Errors
    /// The reason why it is incomplete.
    pub fn finish(self) -> std::result::Result<(), RecordingError> {
        let recorder = self.recorder.and_then(|recorder| recorder.into_inner().ok());
        recorder.map_or(Ok(()), Recorder::finish)
    }

    /// Returns the reason why the run cannot continue, if no process can report it.
    pub fn fatal(&self) -> Option<String> {
        self.fatal.lock().ok()?.clone()
    }

    pub(crate) fn note_fatal(&self, error: &Error) {
        if let Ok(mut fatal) = self.fatal.lock() {
            fatal.get_or_insert(error.to_string());
        }
    }

    pub(crate) fn recorder(&self) -> Option<&Mutex<Recorder>> {
        self.recorder.as_ref()
    }

    pub(crate) fn note_joined(&self) {
        self.joined.store(true, Ordering::Release);
    }

    /// Records a deadlock. The processes see it, and report to the launcher.
    pub(crate) fn note_stuck(&self) {
        if !self.stuck.swap(true, Ordering::AcqRel) {
            self.lines.set_state(RunState::Stuck);
        }
    }

    pub(crate) fn computing(&self) -> &Computing {
        &self.computing
    }

    /// Fails once no process will make a request any more.
    pub(crate) fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Acquire) {
            return Err(Error::Aborted { why: "the processes have ended".into() });
        }
        Ok(())
    }
}
