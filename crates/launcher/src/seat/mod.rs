//! The seat of a rank: what it has of its launcher, whichever fabric carries its messages.
//!
//! A rank knows its number, its job, its clock and its processor by it. It sees the states of the others and why the
//! run was aborted, sleeps and wakes others, passes reports on, says what it waits for, allocates memory that the ranks
//! of this host share, and ends its part of the run.

#[cfg(loom)]
mod in_model;
mod join;
mod real_time;
mod reporter;
mod sleep;
mod wait_reports;

use std::cell::Cell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use contract::{Arenas, Error, Result};

pub(crate) use join::{LIBRARY_PLACE_VARIABLE, PLACE_VARIABLE};
pub use reporter::Reporter;
use wait_reports::Waits;

use crate::arena;
use crate::clock::RunClock;
use crate::layout::Room;
use crate::memory::RunMemory;
use crate::page::{Choices, RankProcessors, State, other_layout};

/// A rank's seat in its run.
pub struct Seat {
    memory: RunMemory,
    rank: usize,
    clock: RunClock,
    processor: Option<usize>,
    reporter: Reporter,
    waits: Waits,
    /// Number of meetings that this rank has come to.
    meetings: Cell<u32>,
    has_ended: Cell<bool>,
    /// Descriptor that also wakes this rank, once it is readable.
    wakes_too: Option<OwnedFd>,
}

impl Seat {
    fn new(
        memory: RunMemory,
        rank: usize,
        clock: RunClock,
        processor: Option<usize>,
        reporter: Reporter,
    ) -> Self {
        Seat {
            memory,
            rank,
            clock,
            processor,
            reporter,
            waits: Waits::default(),
            meetings: Cell::new(0),
            has_ended: Cell::new(false),
            wakes_too: None,
        }
    }

    /// Returns the number of this rank.
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    #[inline]
    pub fn size(&self) -> usize {
        self.memory.ranks()
    }

    /// Returns the bytes that the launcher gave to every rank.
    pub fn job(&self) -> &[u8] {
        self.memory.job()
    }

    /// Returns what the launcher has decided for all ranks.
    pub fn choices(&self) -> Choices {
        self.memory.run_page().choices()
    }

    /// Returns the only processor on which this rank was started, if there is one.
    pub fn processor(&self) -> Option<usize> {
        self.processor
    }

    /// Returns the clock of all ranks of the run.
    pub fn clock(&self) -> RunClock {
        self.clock
    }

    /// Returns a handle that passes reports to the launcher.
    pub fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// Returns a number that the ranks of this run share and that no other run of this host has while this one lasts:
    /// the inode of the shared memory's file. `None` if the system does not provide it.
    pub fn run_number(&self) -> Option<u64> {
        let file = self.memory.file().try_clone_to_owned().ok()?;
        Some(File::from(file).metadata().ok()?.ino())
    }

    /// Returns the state of a rank.
    #[inline]
    pub fn state(&self, rank: usize) -> State {
        self.memory.rank_page(rank).state()
    }

    /// Returns the process of a rank that has joined.
    pub fn process(&self, rank: usize) -> libc::pid_t {
        self.memory.rank_page(rank).process() as libc::pid_t
    }

    /// Returns where a rank runs.
    pub fn processors(&self, rank: usize) -> &RankProcessors {
        self.memory.rank_page(rank).processors()
    }

    /// Waits until all ranks have come to this meeting. What each has written before is visible afterwards. All ranks
    /// come to the same meetings.
    ///
    /// # Errors
    /// If the run was aborted.
    pub fn meet(&self) -> Result<()> {
        self.meetings.set(self.meetings.get() + 1);
        let times = self.meetings.get() * self.size() as u32;
        if self.memory.run_page().meet(times) { Ok(()) } else { Err(self.abort_error()) }
    }

    /// Says a word to all ranks, and returns the words of all, in the order of the ranks. Each rank calls it at most
    /// once, in a [meeting](Seat::meet) of all.
    ///
    /// # Errors
    /// If the run was aborted.
    pub fn exchange(&self, word: u64) -> Result<Vec<u64>> {
        self.memory.rank_page(self.rank).say(word);
        self.meet()?;
        Ok((0..self.size()).map(|rank| self.memory.rank_page(rank).word()).collect())
    }

    /// Returns the room that the launcher has reserved for the fabric.
    ///
    /// # Errors
    /// If it is not the `expected` one: then the launcher is of another build.
    pub fn room(&self, expected: Room) -> Result<NonNull<u8>> {
        let (start, room) = self.memory.room();
        match room == expected {
            true => Ok(start),
            false => Err(Error::System { what: "joining the run".into(), reason: other_layout() }),
        }
    }

    /// Returns whether the run was aborted. Cheap enough for a loop that polls.
    #[inline]
    pub fn is_aborted(&self) -> bool {
        self.memory.run_page().abort.is_raised()
    }

    /// Returns why the run was aborted, if it was.
    #[inline]
    pub fn abort_reason(&self) -> Option<Error> {
        self.is_aborted().then(|| self.abort_error())
    }

    /// Returns the error that every call of a rank returns once the run was aborted.
    #[cold]
    pub fn abort_error(&self) -> Error {
        self.memory.run_page().abort.error()
    }

    /// Returns whether this process has memory in which all ranks of the host can read and write.
    pub fn has_arenas(&self) -> bool {
        self.memory.has_arenas()
    }

    /// Declares that this rank sends and receives no messages of its own any more.
    pub fn leave(&self) {
        self.memory.rank_page(self.rank).set_state(State::Leaving);
        self.memory.run_page().count_left();
        self.memory.wake_all();
    }

    /// Returns whether any rank has left.
    #[inline]
    pub fn has_any_left(&self) -> bool {
        self.memory.run_page().left() > 0
    }

    /// Ends this rank's part of the run: reports a failure to the others and the launcher, and returns the status that
    /// the process should exit with.
    pub fn finish(&self, outcome: Result<()>) -> i32 {
        self.has_ended.set(true);
        let page = self.memory.rank_page(self.rank);
        let status = match outcome {
            Ok(()) => {
                page.set_state(State::Finished);
                0
            }
            Err(error) => {
                self.memory.run_page().abort.raise(Some(self.rank), &error.to_string());
                page.set_state(State::Failed);
                1
            }
        };
        self.memory.wake_all();
        status
    }

    /// Returns whether this rank has [finished](Seat::finish).
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Ends the part of a rank that cannot join its run over a fabric, and returns why.
    pub fn give_up(&self, error: Error) -> Error {
        self.finish(Err(error.clone()));
        error
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.has_ended.get() {
            return;
        }
        let how = if std::thread::panicking() {
            "its program panicked"
        } else {
            "its program ended without finish()"
        };
        self.memory.run_page().abort.raise_death(self.rank, how);
        self.memory.rank_page(self.rank).set_state(State::Failed);
        self.memory.wake_all();
    }
}

/// Interval at which the cause of an end is looked for.
const CAUSE_INTERVAL: Duration = Duration::from_millis(1);

/// Returns why a run was aborted, which `reason` knows a moment after a process or a connection is gone, or `None` if it does
/// not within `limit`.
pub fn wait_for_cause(limit: Duration, mut reason: impl FnMut() -> Option<Error>) -> Option<Error> {
    let begin = Instant::now();
    loop {
        let error = reason();
        if error.is_some() || begin.elapsed() > limit {
            return error;
        }
        std::thread::sleep(CAUSE_INTERVAL);
    }
}

/// The memory of all ranks of this host, if the launcher has created it.
impl Arenas for Seat {
    #[inline]
    fn place_of(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.memory.offset_in_arenas(memory, bytes).map(|offset| offset as u64)
    }

    #[inline]
    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        self.memory.at_offset(usize::try_from(place).ok()?, bytes)
    }

    fn allocate(&self, bytes: usize) -> Option<NonNull<u8>> {
        arena::allocate(bytes)
    }

    unsafe fn release(&self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller promises the same.
        unsafe { arena::free(memory, bytes) };
    }
}
