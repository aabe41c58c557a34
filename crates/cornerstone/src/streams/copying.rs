//! Copies the output of ranks from their pipes to where it is to go.

use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::lines::Lines;
use crate::failure::Failure;

const PIECE_BYTES: usize = 64 << 10;

/// A pipe to which a rank writes.
pub(super) struct Source {
    pub(super) pipe: PipeReader,
    pub(super) lines: Lines,
    /// Its place among the [`Target`]s.
    pub(super) target: usize,
}

/// A place to which output goes.
pub(super) struct Target {
    pub(super) file: File,
    /// Its name in messages.
    pub(super) name: String,
}

/// The thread that copies.
pub(crate) struct Copying(JoinHandle<Option<Failure>>);

impl Copying {
    /// Starts the thread.
    pub(super) fn start(sources: Vec<Source>, targets: Vec<Target>) -> io::Result<Self> {
        let copy = move || copy(sources, &targets);
        std::thread::Builder::new().name("output".into()).spawn(copy).map(Copying)
    }

    /// Returns once all is written: no process holds the other end of a pipe.
    ///
    /// # Errors
    /// Something could not be written. The ranks that wrote it have received SIGPIPE.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.0.join() {
            Ok(None) => Ok(()),
            Ok(Some(failure)) => Err(failure),
            Err(_) => Err(Failure::failed("the copying of the ranks' output panicked")),
        }
    }
}

/// Copies until all pipes have ended. Returns the first failure.
fn copy(mut sources: Vec<Source>, targets: &[Target]) -> Option<Failure> {
    let mut failure = None;
    let mut piece = vec![0; PIECE_BYTES];
    while !sources.is_empty() {
        let ready = wait(&sources);
        let now = Instant::now();
        // One thread writes, each time whole lines, so lines of several ranks never mix.
        let mut broken = Vec::new();
        let mut ended = Vec::new();
        for (index, (source, is_ready)) in sources.iter_mut().zip(ready).enumerate() {
            let (lines, ends) = match is_ready.then(|| source.pipe.read(&mut piece)) {
                Some(Ok(0)) => (source.lines.end(), true),
                Some(Ok(length)) => (source.lines.add(&piece[..length], now), false),
                Some(Err(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    (source.lines.end(), true)
                }
                _ => (source.lines.overdue(now), false),
            };
            if ends {
                ended.push(index);
            }
            let target = &targets[source.target];
            if let Err(error) = (&target.file).write_all(&lines) {
                broken.push(source.target);
                failure = failure.or_else(|| refused(target, &error));
            }
        }
        let mut index = 0;
        // Ranks that write to a place that takes no more get SIGPIPE, as if they wrote to it themselves.
        sources.retain(|source| {
            index += 1;
            !ended.contains(&(index - 1)) && !broken.contains(&source.target)
        });
    }
    failure
}

/// Waits until a pipe is readable, or a line has waited for long. Returns which pipes are readable.
fn wait(sources: &[Source]) -> Vec<bool> {
    let mut entries: Vec<PollFd<'_>> =
        sources.iter().map(|source| PollFd::new(&source.pipe, PollFlags::IN)).collect();
    let due = sources.iter().filter_map(|source| source.lines.due()).min();
    let limit = due.map(|due| due.saturating_duration_since(Instant::now()));
    let limit = limit.and_then(|limit| Timespec::try_from(limit.max(SHORTEST_WAIT)).ok());
    // An error, such as an interruption, leaves no entry ready.
    let _ = poll(&mut entries, limit.as_ref());
    entries.iter().map(|entry| !entry.revents().is_empty()).collect()
}

const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// Returns the failure of a write. A reader that has gone is none: the ranks end by SIGPIPE.
fn refused(target: &Target, error: &io::Error) -> Option<Failure> {
    let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
    (!is_closed).then(|| Failure::failed(format!("writing {}: {error}", target.name)))
}
