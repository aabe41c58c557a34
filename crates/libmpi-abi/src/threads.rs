//! The entrance of the library. Several threads of a program (MPI_THREAD_MULTIPLE) enter one at a time, in order of
//! arrival, and a simulated machine observes when the program is in the library.
//!
//! A program that needs neither executes one check of flags in each call.

mod outside;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use contract::{OtherEnds, WaitPlace};
use mpi::OtherThreads;

use crate::chosen;
use outside::inspect;

/// Sleep of a thread between two turns after a long time without success.
const SLEEP: Duration = Duration::from_micros(50);

/// The threads inside and waiting.
struct Queue {
    /// The next number to assign, and the number of the thread that is inside or may enter.
    next: u64,
    now: u64,
}

/// The waits of threads that have become long.
struct LongWaits {
    next: u64,
    waits: Vec<LongWait>,
}

struct LongWait {
    number: u64,
    thread: i32,
    /// True if it has had an idle poll since all had one.
    has_polled: bool,
}

impl LongWaits {
    /// Returns the threads that wait. If none is recorded, returns the one that calls, which may have waited alone,
    /// unrecorded.
    fn threads(&self) -> Vec<i32> {
        let mut threads: Vec<i32> = self.waits.iter().map(|wait| wait.thread).collect();
        if threads.is_empty() {
            threads.push(own_thread());
        }
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}

/// Returns the system's number of this thread.
pub(crate) fn own_thread() -> i32 {
    // SAFETY: no memory is involved.
    unsafe { libc::gettid() }
}

/// The program has requested several threads.
const SHARED: u8 = 1;
/// The fabric observes when the program enters and leaves the library.
const OBSERVED: u8 = 2;

/// The entrance of threads.
struct Gate {
    /// Work at the entrance, by bits. Set before the program can have several threads.
    duties: AtomicU8,
    queue: Mutex<Queue>,
    moved: Condvar,
    /// Number of waiting threads: a hint; the queue decides.
    waiting: AtomicU32,
    observer: OnceLock<extern "C" fn(bool)>,
    /// A number for the first thread, and whether others have arrived since.
    first: AtomicU32,
    are_several: AtomicBool,
    /// Number of threads that are inside or wait to enter, and those of them that have waited for long.
    entered: AtomicU32,
    long_waits: Mutex<LongWaits>,
}

static GATE: Gate = Gate {
    duties: AtomicU8::new(0),
    queue: Mutex::new(Queue { next: 0, now: 0 }),
    moved: Condvar::new(),
    waiting: AtomicU32::new(0),
    observer: OnceLock::new(),
    first: AtomicU32::new(0),
    are_several: AtomicBool::new(false),
    entered: AtomicU32::new(0),
    long_waits: Mutex::new(LongWaits { next: 1, waits: Vec::new() }),
};

thread_local! {
    /// Nesting depth of this thread: a function of the program may call back.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Work at the entrance when this thread entered.
    static ENTERED_WITH: Cell<u8> = const { Cell::new(0) };
    /// Number of this thread; 0 before it has one.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

static NUMBERS: AtomicU32 = AtomicU32::new(1);

impl Gate {
    fn observe(&self, enters: bool) {
        self.observer.get().into_iter().for_each(|observer| observer(enters));
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it is locked.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters after all earlier arrivals have been inside.
    fn come_in(&self) {
        let mut queue = self.queue();
        let mine = queue.next;
        queue.next += 1;
        while queue.now != mine {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn go_out(&self) {
        let mut queue = self.queue();
        queue.now += 1;
        let others_wait = queue.now != queue.next;
        drop(queue);
        if others_wait {
            self.moved.notify_all();
        }
    }

    fn long_waits(&self) -> MutexGuard<'_, LongWaits> {
        self.long_waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records which thread enters.
    fn note_thread(&self) {
        if self.are_several.load(Ordering::Relaxed) {
            return;
        }
        let mut mine = NUMBER.get();
        if mine == 0 {
            mine = NUMBERS.fetch_add(1, Ordering::Relaxed);
            NUMBER.set(mine);
        }
        let before = self.first.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed);
        if before.is_err_and(|first| first != mine) {
            self.are_several.store(true, Ordering::Relaxed);
        }
    }
}

impl OtherThreads for Gate {
    fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    fn are_several(&self) -> bool {
        self.are_several.load(Ordering::Relaxed)
    }

    fn let_in(&self, may_sleep: bool) {
        if !self.is_wanted() && !may_sleep {
            return;
        }
        self.go_out();
        if may_sleep {
            std::thread::sleep(SLEEP);
        }
        self.come_in();
    }

    fn begin_long_wait(&self) -> u64 {
        let mut all = self.long_waits();
        let number = all.next;
        all.next += 1;
        all.waits.push(LongWait { number, thread: own_thread(), has_polled: false });
        number
    }

    fn note_idle_poll(&self, wait: u64) -> WaitPlace {
        let mut all = self.long_waits();
        all.waits.iter_mut().filter(|one| one.number == wait).for_each(|one| one.has_polled = true);
        let have_all_polled = all.waits.iter().all(|one| one.has_polled);
        if have_all_polled {
            all.waits.iter_mut().for_each(|one| one.has_polled = false);
        }
        WaitPlace { wait, waits: all.waits.len(), have_all_polled }
    }

    fn end_long_wait(&self, wait: u64) {
        self.long_waits().waits.retain(|one| one.number != wait);
    }
}

impl OtherEnds for Gate {
    /// Returns the number of an inspection of the threads outside. Returns `None` if a thread may end the waits of
    /// others: one inside that has not waited for long, or one outside that may act.
    fn ruled_out(&self) -> Option<u64> {
        let waiting = self.long_waits().threads();
        let are_all = self.entered.load(Ordering::Relaxed) as usize == waiting.len();
        if !are_all || !waiting.contains(&own_thread()) {
            return None;
        }
        inspect(&waiting).filter(|outside| outside.acting == 0).map(|outside| outside.number)
    }

    fn describe(&self) -> Option<String> {
        match inspect(&self.long_waits().threads()).map_or(0, |outside| outside.acting) {
            0 => None,
            1 => Some("another thread of the process may still act".into()),
            acting => Some(format!("{acting} other threads of the process may still act")),
        }
    }
}

/// Admits several threads from now on, one at a time. So far there is one.
pub(crate) fn share(engine: &mpi::Engine<chosen::Chosen>) {
    engine.share_between_threads(&GATE);
    GATE.note_thread();
    GATE.duties.fetch_or(SHARED, Ordering::Release);
}

/// Calls `observer` from now on when the program enters the library (true) and when it leaves it.
pub(crate) fn observe_calls(observer: extern "C" fn(bool)) {
    GATE.observer.get_or_init(|| observer);
    GATE.duties.fetch_or(OBSERVED, Ordering::Release);
}

/// A thread that is inside, until this is dropped; and the work that was required when it entered.
pub(crate) struct Inside(u8);

/// Enters. This has no effect unless there is work at the entrance.
#[inline(always)]
pub(crate) fn enter() -> Inside {
    // Relaxed: starting a thread makes earlier stores visible to it.
    let duties = GATE.duties.load(Ordering::Relaxed);
    if duties != 0 {
        enter_with(duties);
    }
    Inside(duties)
}

#[cold]
fn enter_with(duties: u8) {
    if DEPTH.get() == 0 {
        ENTERED_WITH.set(duties);
        if duties & OBSERVED != 0 {
            GATE.observe(true);
        }
        if duties & SHARED != 0 {
            GATE.note_thread();
            GATE.entered.fetch_add(1, Ordering::Relaxed);
            GATE.come_in();
        }
    }
    DEPTH.set(DEPTH.get() + 1);
}

/// Admits other threads instead of this one, whose call never returns. It stays inside if a function of the program has
/// called back: objects of the library may then be in use.
pub(crate) fn leave_for_good() {
    if DEPTH.get() == 1 {
        leave_with(ENTERED_WITH.get());
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 != 0 {
            leave_with(self.0);
        }
    }
}

#[cold]
fn leave_with(duties: u8) {
    DEPTH.set(DEPTH.get() - 1);
    if DEPTH.get() == 0 {
        if duties & SHARED != 0 {
            GATE.go_out();
            GATE.entered.fetch_sub(1, Ordering::Relaxed);
        }
        if duties & OBSERVED != 0 {
            GATE.observe(false);
        }
    }
}
