//! The memory that the launcher's process shares with those of the ranks, and how the two ends of a line take turns in
//! it.
//!
//! Each rank has a line: room for questions of its process, or one answer. Whose turn it is says who may touch the
//! room. A process that goes on after a question leaves the turn open: whoever takes it first has it. A page for all
//! lines comes first; it has a count of questions, on which the server sleeps.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fabric_shm::{futex_wait, futex_wake, map_shared, memory_file};

const PAGE_BYTES: usize = 4096;
/// Addresses set aside for what a line carries at once. Only what is used takes memory.
pub(crate) const ROOM_BYTES: usize = 4 << 30;
/// The longest message; a quarter of the room, for an answer may bring several things.
pub(crate) const LONGEST_BYTES: usize = 1 << 30;
/// Memory of the room that a line keeps after it carried more.
const KEPT_BYTES: usize = 16 << 20;
const LINE_BYTES: usize = PAGE_BYTES + ROOM_BYTES;

/// Looks before a sleep, of an end that takes no processor from those that it waits for.
const SPINS: u32 = 4000;
/// How long the server looks before it sleeps, and how many looks are between two at the clock.
const LONGEST_SPIN: Duration = Duration::from_micros(100);
const SPINS_AT_ONCE: u32 = 16;

const OF_PROCESS: u32 = 0;
const OF_SERVER: u32 = 1;
/// The process goes on, with questions in the room that need no answer: either end may take the turn.
const OPEN: u32 = 2;

/// The state of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunState {
    /// It continues.
    Runs,
    /// All ranks wait, and nothing is under way: no question will be answered any more.
    Stuck,
    /// The server has ended.
    Over,
}

/// The page for all lines.
#[repr(C, align(64))]
struct Header {
    /// Counts questions. The server sleeps on it.
    posted: AtomicU32,
    server_sleeps: AtomicU32,
    state: AtomicU32,
}

/// The beginning of a line.
#[repr(C, align(64))]
struct Head {
    turn: AtomicU32,
    process_sleeps: AtomicU32,
    /// The number of bytes of the buffer that are in use.
    bytes: AtomicU64,
    /// The process that asks, and the processor's time that it had used when it got its turn; [`UNKNOWN`] if that is
    /// not known, or what it does is not computing.
    process: AtomicU64,
    since_ns: AtomicU64,
}

/// A process whose computing is unknown before its request.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Mapped memory.
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread. What lies in it is reached through atomics, or in turns.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: whatever points into it holds it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// All lines of a run, as the launcher's process has them.
pub(crate) struct Lines {
    memory: OwnedFd,
    mapping: Arc<Mapping>,
    spins: u32,
}

/// One end of a rank's line.
pub(crate) struct Line {
    header: NonNull<Header>,
    head: NonNull<Head>,
    room: NonNull<u8>,
    spins: u32,
    /// The mapping of the pointers.
    _mappings: [Arc<Mapping>; 2],
}

// SAFETY: an end is used by one thread at a time, and the ends rule by `turn` which of them touches the room.
unsafe impl Send for Line {}

impl Lines {
    /// Makes the lines of `ranks` ranks.
    pub(crate) fn create(ranks: usize) -> io::Result<Self> {
        let bytes = PAGE_BYTES + ranks * LINE_BYTES;
        let memory = memory_file(bytes)?;
        let base = map_shared(memory.as_fd(), 0, bytes)?;
        // Only one process computes at a time, so with two processors the server has one to itself.
        let spins = spins(1);
        Ok(Lines { memory, mapping: Arc::new(Mapping { base, bytes }), spins })
    }

    /// The memory, for the ranks' processes to map.
    pub(crate) fn memory(&self) -> &OwnedFd {
        &self.memory
    }

    /// An end of the line of `rank`.
    pub(crate) fn line(&self, rank: usize) -> Line {
        let offset = PAGE_BYTES + rank * LINE_BYTES;
        assert!(offset < self.mapping.bytes, "there is no line for rank {rank}");
        // SAFETY: just checked.
        let start = unsafe { self.mapping.base.add(offset) };
        Line::at(self.mapping.base, start, self.spins, [self.mapping.clone(), self.mapping.clone()])
    }

    /// Sets the state of the run, and lets every process see it.
    pub(crate) fn set_state(&self, state: RunState) {
        let ranks = (self.mapping.bytes - PAGE_BYTES) / LINE_BYTES;
        // SAFETY: the page is mapped, and a header is plain atomics.
        let header = unsafe { self.mapping.base.cast::<Header>().as_ref() };
        let state = match state {
            RunState::Runs => 0,
            RunState::Stuck => 1,
            RunState::Over => 2,
        };
        // Release, partner of the acquire in `Line::state`.
        header.state.store(state, Ordering::Release);
        (0..ranks).for_each(|rank| futex_wake(&self.line(rank).head().turn, 1));
        header.posted.fetch_add(1, Ordering::SeqCst);
        futex_wake(&header.posted, 1);
    }
}

/// The number of polls of an end before it sleeps, if it shares the processors with `many` others.
fn spins(many: usize) -> u32 {
    match std::thread::available_parallelism() {
        Ok(processors) if processors.get() > many => SPINS,
        _ => 0,
    }
}

impl Line {
    /// The process's end of the line of `rank` of `ranks`, in memory that the launcher has made.
    pub(crate) fn open(memory: &OwnedFd, rank: usize, ranks: usize) -> io::Result<Self> {
        let map = |offset, bytes| -> io::Result<Arc<Mapping>> {
            let base = map_shared(memory.as_fd(), offset, bytes)?;
            Ok(Arc::new(Mapping { base, bytes }))
        };
        let header = map(0, PAGE_BYTES)?;
        let line = map(PAGE_BYTES + rank * LINE_BYTES, LINE_BYTES)?;
        Ok(Line::at(header.base, line.base, spins(ranks), [header, line]))
    }

    fn at(
        header: NonNull<u8>,
        start: NonNull<u8>,
        spins: u32,
        mappings: [Arc<Mapping>; 2],
    ) -> Self {
        // SAFETY: a line is longer than a page.
        let room = unsafe { start.add(PAGE_BYTES) };
        Line { header: header.cast(), head: start.cast(), room, spins, _mappings: mappings }
    }

    fn header(&self) -> &Header {
        // SAFETY: mapped as long as this is, and a header is plain atomics, for which any bits are values.
        unsafe { self.header.as_ref() }
    }

    fn head(&self) -> &Head {
        // SAFETY: as above.
        unsafe { self.head.as_ref() }
    }

    /// The state of the run.
    pub(crate) fn state(&self) -> RunState {
        match self.header().state.load(Ordering::Acquire) {
            0 => RunState::Runs,
            1 => RunState::Stuck,
            _ => RunState::Over,
        }
    }

    /// The room. Only the end whose turn it is may use it, and only until it gives the turn away.
    pub(crate) fn room(&self) -> *mut u8 {
        self.room.as_ptr()
    }

    /// The number of bytes of the buffer that are in use.
    pub(crate) fn bytes(&self) -> usize {
        (self.head().bytes.load(Ordering::Relaxed) as usize).min(ROOM_BYTES)
    }

    /// Sets the number of bytes of the buffer that are in use.
    pub(crate) fn set_bytes(&self, bytes: usize) {
        self.head().bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// Gives memory back that only long contents have needed. To be called by the end whose turn it is, once it has
    /// read them.
    pub(crate) fn shrink(&self) {
        if self.bytes() > KEPT_BYTES {
            self.set_bytes(0);
            // SAFETY: the range is mapped shared memory that is not read before it is written again.
            unsafe {
                let rest = self.room().add(KEPT_BYTES);
                libc::madvise(rest.cast(), ROOM_BYTES - KEPT_BYTES, libc::MADV_REMOVE);
            }
        }
    }

    // The end of the process.

    /// Gives the turn to the server, with a question in the room.
    pub(crate) fn ask(&self) {
        // Release, partner of the acquire in `is_asked`: a reader of the turn sees the buffer.
        self.head().turn.store(OF_SERVER, Ordering::Release);
        self.header().posted.fetch_add(1, Ordering::SeqCst);
        // The server says that it sleeps before it looks for the last time, so one of the two sees the other.
        if self.header().server_sleeps.load(Ordering::SeqCst) != 0 {
            futex_wake(&self.header().posted, 1);
        }
    }

    /// Leaves the turn open, with questions in the room that need no answer. Nobody is woken: the next question does
    /// that, or the server looks after a while.
    pub(crate) fn leave_open(&self) {
        // Release, partner of the acquire in `take_open`: whoever takes the turn sees the room.
        self.head().turn.store(OPEN, Ordering::Release);
    }

    /// Takes a turn back that was left open. Returns whether the process has it: otherwise the server has taken it, and
    /// will give it back.
    pub(crate) fn close(&self) -> bool {
        // Acquire, so that nothing is written to the room before. Its partner is the exchange in `take_open`.
        self.exchange_open(OF_PROCESS)
    }

    fn exchange_open(&self, by: u32) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.head().turn.compare_exchange(OPEN, by, success, failure).is_ok()
    }

    fn is_answered(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OF_PROCESS
    }

    /// Polls for the reply as long as that takes no other's processor. Returns whether it has arrived.
    pub(crate) fn spin_for_answer(&self) -> bool {
        spin(self.spins.max(1), || self.is_answered())
    }

    /// Waits for the answer in a sleep, at most for `limit`. Returns whether it is there.
    pub(crate) fn await_answer(&self, limit: Duration) -> bool {
        let head = self.head();
        head.process_sleeps.store(1, Ordering::SeqCst);
        // The system compares the turn once more before it lets the process sleep.
        futex_wait(&head.turn, OF_SERVER, limit);
        head.process_sleeps.store(0, Ordering::SeqCst);
        self.is_answered()
    }

    /// Sets the process of this line.
    pub(crate) fn name_process(&self) {
        self.head().process.store(std::process::id().into(), Ordering::Relaxed);
    }

    /// Sets the start of this process's computing, by the processor time that it had used then.
    pub(crate) fn compute_since(&self, since_ns: u64) {
        // Release, partner of the acquire in `computes_since`: a reader sees the process.
        self.head().since_ns.store(since_ns, Ordering::Release);
    }

    // The end of the server.

    /// Since when the process computes, and its number, if it has said so after the last answer.
    pub(crate) fn computes_since(&self) -> Option<(u64, u64)> {
        let head = self.head();
        let since_ns = head.since_ns.load(Ordering::Acquire);
        (since_ns != UNKNOWN).then(|| (since_ns, head.process.load(Ordering::Relaxed)))
    }

    /// Whether there are questions that need no answer, from a process that goes on.
    pub(crate) fn is_open(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OPEN
    }

    /// Takes the turn if it was left open; returns whether it was.
    pub(crate) fn take_open(&self) -> bool {
        self.exchange_open(OF_SERVER)
    }

    /// Gives the turn to the process, with an answer in the room.
    pub(crate) fn answer(&self) {
        // It is visible with the turn, which is stored after it.
        self.head().since_ns.store(UNKNOWN, Ordering::Relaxed);
        self.give_back();
    }

    /// Gives the turn back to a process that waits for no answer, and has gone on computing.
    pub(crate) fn give_back(&self) {
        let head = self.head();
        // Before the look whether the process sleeps, which it says before the system compares the turn.
        head.turn.store(OF_PROCESS, Ordering::SeqCst);
        if head.process_sleeps.load(Ordering::SeqCst) != 0 {
            futex_wake(&head.turn, 1);
        }
    }

    /// Whether there is a question.
    pub(crate) fn is_asked(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OF_SERVER
    }

    /// Waits for a question of this line, at most for `limit` in a sleep. Returns whether there is one.
    pub(crate) fn await_question(&self, limit: Duration) -> bool {
        self.await_questions(limit, self.spins > 0, || self.is_asked())
    }

    /// Waits until questions make `done` true, at most for `limit`. If a processor is free for that, the server looks
    /// for a while before it sleeps. Returns whether it is true.
    pub(crate) fn await_questions(
        &self,
        limit: Duration,
        has_processor: bool,
        done: impl Fn() -> bool,
    ) -> bool {
        if has_processor {
            let start = Instant::now();
            while start.elapsed() < limit.min(LONGEST_SPIN) {
                if spin(SPINS_AT_ONCE, &done) {
                    return true;
                }
            }
            if limit <= LONGEST_SPIN {
                return done();
            }
        }
        let header = self.header();
        header.server_sleeps.store(1, Ordering::SeqCst);
        let posted = header.posted.load(Ordering::SeqCst);
        if !done() {
            futex_wait(&header.posted, posted, limit);
        }
        header.server_sleeps.store(0, Ordering::SeqCst);
        done()
    }
}

/// Looks so often whether `done` is true. Returns whether it is.
fn spin(times: u32, done: impl Fn() -> bool) -> bool {
    for _ in 0..times {
        if done() {
            return true;
        }
        std::hint::spin_loop();
    }
    false
}

#[cfg(test)]
mod tests;
