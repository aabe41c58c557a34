//! The memory that the launcher's process shares with those of the ranks, and the turns of the two ends of a line.
//!
//! Each rank has a line: a buffer for requests of its process, or one reply. Only the end that has the turn may access
//! the buffer. A process that continues after a request leaves the turn open: the first end that takes it has it. A
//! page for all lines comes first; it has a count of requests, on which the server sleeps.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use launcher::system::{futex_wait, futex_wake, map_shared, memory_file};

const PAGE_BYTES: usize = 4096;
/// Addresses reserved for the contents of a line. Only the used part takes memory.
pub(crate) const ROOM_BYTES: usize = 4 << 30;
/// Longest message in bytes: a quarter of the buffer, because a reply may contain several messages.
pub const LONGEST_BYTES: usize = 1 << 30;
/// Memory of the buffer that a line keeps after longer contents.
const KEPT_BYTES: usize = 16 << 20;
const LINE_BYTES: usize = PAGE_BYTES + ROOM_BYTES;

/// Number of polls before a sleep, of an end that takes no processor from those that it waits for.
const SPINS: u32 = 4000;
/// Maximum time for which the server polls before it sleeps, and number of polls between two readings of the clock.
const LONGEST_SPIN: Duration = Duration::from_micros(100);
const SPINS_AT_ONCE: u32 = 16;

const OF_PROCESS: u32 = 0;
const OF_SERVER: u32 = 1;
/// The process continues, with requests without reply in the buffer: either end may take the turn.
const OPEN: u32 = 2;
/// All ranks wait for ever, so that neither end needs the turn. The buffer has the unexpected messages of the rank.
const STUCK: u32 = 3;

/// State of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run continues.
    Runs,
    /// All ranks wait, and nothing is under way: there will be no more replies.
    Stuck,
    /// The server has ended.
    Over,
}

/// The page for all lines.
#[repr(C, align(64))]
struct Header {
    /// Number of requests. The server sleeps on it.
    posted: AtomicU32,
    server_sleeps: AtomicU32,
    state: AtomicU32,
}

/// The beginning of a line.
#[repr(C, align(64))]
struct Head {
    turn: AtomicU32,
    process_sleeps: AtomicU32,
    /// Number of bytes of the buffer that are in use.
    bytes: AtomicU64,
    /// The process of this line, and the processor time that it had used when it got its turn; [`UNKNOWN`] if that is
    /// unknown, or if its activity is not computing.
    process: AtomicU64,
    since_ns: AtomicU64,
}

/// Value for a process whose computing before its request is unknown.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Mapped memory.
struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread. Its contents are accessed through atomics, or in turns.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: all pointers into it hold a reference to it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// All lines of a run, in the launcher's process.
pub struct Lines {
    memory: OwnedFd,
    mapping: Arc<Mapping>,
    spins: u32,
}

/// One end of a rank's line.
pub struct Line {
    header: NonNull<Header>,
    head: NonNull<Head>,
    room: NonNull<u8>,
    spins: u32,
    /// The mappings that the pointers refer to.
    _mappings: [Arc<Mapping>; 2],
}

// SAFETY: an end is used by one thread at a time, and `turn` decides which end accesses the buffer.
unsafe impl Send for Line {}

impl Lines {
    /// Creates the lines of `ranks` ranks.
    pub fn create(ranks: usize) -> io::Result<Self> {
        let bytes = PAGE_BYTES + ranks * LINE_BYTES;
        let memory = memory_file(bytes)?;
        let base = map_shared(memory.as_fd(), 0, bytes)?;
        // Only one process computes at a time, so the server has a processor of its own if there are two.
        let spins = spins(1);
        Ok(Lines { memory, mapping: Arc::new(Mapping { base, bytes }), spins })
    }

    /// Returns the memory, for the ranks' processes to map.
    pub fn memory(&self) -> &OwnedFd {
        &self.memory
    }

    /// Returns an end of the line of `rank`.
    pub fn line(&self, rank: usize) -> Line {
        let offset = PAGE_BYTES + rank * LINE_BYTES;
        assert!(offset < self.mapping.bytes, "there is no line for rank {rank}");
        // SAFETY: just checked.
        let start = unsafe { self.mapping.base.add(offset) };
        Line::at(self.mapping.base, start, self.spins, [self.mapping.clone(), self.mapping.clone()])
    }

    /// Sets the state of the run, and wakes every process.
    pub fn set_state(&self, state: RunState) {
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

/// Returns the number of polls of an end before it sleeps, if it shares the processors with `many` others.
fn spins(many: usize) -> u32 {
    match std::thread::available_parallelism() {
        Ok(processors) if processors.get() > many => SPINS,
        _ => 0,
    }
}

impl Line {
    /// Opens the process's end of the line of `rank` of `ranks`, in memory that the launcher has created.
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
        // SAFETY: it is mapped as long as this exists, and a header is plain atomics, for which all bit patterns are
        // valid.
        unsafe { self.header.as_ref() }
    }

    fn head(&self) -> &Head {
        // SAFETY: as above.
        unsafe { self.head.as_ref() }
    }

    /// Returns the state of the run.
    pub(crate) fn state(&self) -> RunState {
        match self.header().state.load(Ordering::Acquire) {
            0 => RunState::Runs,
            1 => RunState::Stuck,
            _ => RunState::Over,
        }
    }

    /// Returns the buffer. Only the end that has the turn may use it, and only until it passes the turn on.
    pub(crate) fn room(&self) -> *mut u8 {
        self.room.as_ptr()
    }

    /// Returns the number of bytes of the buffer that are in use.
    pub fn bytes(&self) -> usize {
        (self.head().bytes.load(Ordering::Relaxed) as usize).min(ROOM_BYTES)
    }

    /// Sets the number of bytes of the buffer that are in use.
    pub(crate) fn set_bytes(&self, bytes: usize) {
        self.head().bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// Frees memory that only long contents have needed. The caller must have the turn, and must have read the
    /// contents.
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

    /// Passes the turn to the server, with a request in the buffer.
    pub fn request(&self) {
        // Release, partner of the acquire in `is_requested`: a reader of the turn sees the buffer.
        self.head().turn.store(OF_SERVER, Ordering::Release);
        self.header().posted.fetch_add(1, Ordering::SeqCst);
        // The server sets `server_sleeps` before its last check, so one of the two sees the other's store.
        if self.header().server_sleeps.load(Ordering::SeqCst) != 0 {
            futex_wake(&self.header().posted, 1);
        }
    }

    /// Leaves the turn open, with requests without reply in the buffer. It wakes no process: the next request does, or
    /// the server checks after some time.
    pub(crate) fn leave_open(&self) {
        // Release, partner of the acquire in `take_open`: the end that takes the turn sees the buffer.
        self.head().turn.store(OPEN, Ordering::Release);
    }

    /// Takes back a turn that was left open. Returns false if the server has taken it, and will return it.
    pub(crate) fn close(&self) -> bool {
        // Acquire, so that nothing is written to the buffer before. Its partner is the exchange in `take_open`.
        self.exchange_open(OF_PROCESS)
    }

    fn exchange_open(&self, by: u32) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.head().turn.compare_exchange(OPEN, by, success, failure).is_ok()
    }

    fn is_replied(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OF_PROCESS
    }

    /// Polls for the reply as long as that takes no other's processor. Returns whether it has arrived.
    pub(crate) fn spin_for_reply(&self) -> bool {
        spin(self.spins.max(1), || self.is_replied())
    }

    /// Sleeps until the reply arrives, at most for `limit`. Returns whether it has arrived.
    pub(crate) fn await_reply(&self, limit: Duration) -> bool {
        let head = self.head();
        head.process_sleeps.store(1, Ordering::SeqCst);
        // The system compares the turn once more before it lets the process sleep.
        futex_wait(&head.turn, if self.is_stuck() { STUCK } else { OF_SERVER }, limit);
        head.process_sleeps.store(0, Ordering::SeqCst);
        self.is_replied()
    }

    /// Returns whether this end may read the unexpected messages of a rank that waits for ever.
    pub(crate) fn is_stuck(&self) -> bool {
        // Acquire, partner of the release in `leave_stuck`: a reader of the turn sees the buffer.
        self.head().turn.load(Ordering::Acquire) == STUCK
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

    /// Returns the start of the process's computing, and its number, if it has published them after the last reply.
    pub(crate) fn computes_since(&self) -> Option<(u64, u64)> {
        let head = self.head();
        let since_ns = head.since_ns.load(Ordering::Acquire);
        (since_ns != UNKNOWN).then(|| (since_ns, head.process.load(Ordering::Relaxed)))
    }

    /// Returns whether there are requests without reply, from a process that continues.
    pub fn is_open(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OPEN
    }

    /// Takes the turn if it was left open. Returns whether it was.
    pub fn take_open(&self) -> bool {
        self.exchange_open(OF_SERVER)
    }

    /// Passes the turn to the process, with a reply in the buffer.
    pub fn reply(&self) {
        // It is visible with the turn, which is stored after it.
        self.head().since_ns.store(UNKNOWN, Ordering::Relaxed);
        self.give_back();
    }

    /// Returns the turn to a process that waits for no reply, and has continued to compute.
    pub fn give_back(&self) {
        let head = self.head();
        // SeqCst, before the load of `process_sleeps`: the process sets that before the system compares the turn, so
        // one of the two sees the other's store.
        head.turn.store(OF_PROCESS, Ordering::SeqCst);
        if head.process_sleeps.load(Ordering::SeqCst) != 0 {
            futex_wake(&head.turn, 1);
        }
    }

    /// Ends all turns, with the unexpected messages of the rank in the buffer.
    pub fn leave_stuck(&self) {
        self.head().turn.store(STUCK, Ordering::Release);
    }

    /// Returns whether there is a request.
    pub fn is_requested(&self) -> bool {
        self.head().turn.load(Ordering::Acquire) == OF_SERVER
    }

    /// Waits for a request of this line, at most for `limit` in a sleep. Returns whether there is one.
    pub fn await_request(&self, limit: Duration) -> bool {
        self.await_requests(limit, self.spins > 0, || self.is_requested())
    }

    /// Waits until requests make `done` true, at most for `limit`. If a processor is free for that, the server polls
    /// for some time before it sleeps. Returns whether it is true.
    pub fn await_requests(
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

/// Polls `done` up to `times` times. Returns whether it is true.
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
