//! Several threads of a program in the library (MPI_THREAD_MULTIPLE): one at a time, in the order in which they come.
//!
//! A program that has not asked for that pays one look at a flag in each call.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mpi::OtherThreads;

/// How long a thread sleeps between two turns once it has waited in vain for long.
const SLEEP: Duration = Duration::from_micros(50);

/// Who is in, and who comes next.
struct Queue {
    /// The number of whoever comes next, and of whoever is in or may go in.
    next: u64,
    now: u64,
}

/// Where threads come in.
struct Gate {
    /// True if the program has asked for several threads. Set before it can have any.
    is_shared: AtomicBool,
    queue: Mutex<Queue>,
    moved: Condvar,
    /// How many wait to get in: a hint, which the queue decides.
    waiting: AtomicU32,
    /// A number for the thread that came first, and whether others have come since.
    first: AtomicU32,
    are_several: AtomicBool,
}

static GATE: Gate = Gate {
    is_shared: AtomicBool::new(false),
    queue: Mutex::new(Queue { next: 0, now: 0 }),
    moved: Condvar::new(),
    waiting: AtomicU32::new(0),
    first: AtomicU32::new(0),
    are_several: AtomicBool::new(false),
};

thread_local! {
    /// How deep this thread is in: a function of the program may call back.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// This thread's number; 0 before it has one.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

static NUMBERS: AtomicU32 = AtomicU32::new(1);

impl Gate {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Comes in when all who came before have been in.
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

    /// Takes note of which thread comes.
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
}

/// Lets several threads in from now on, one at a time. So far there is one.
pub(crate) fn share(engine: &mpi::Engine<crate::chosen::Chosen>) {
    engine.share_between_threads(&GATE);
    GATE.note_thread();
    GATE.is_shared.store(true, Ordering::Release);
}

/// A thread that is in, until this is dropped.
pub(crate) struct Inside(bool);

/// Comes in, where several threads may want to.
#[inline(always)]
pub(crate) fn enter() -> Inside {
    // Relaxed: whoever starts a thread makes it see what came before.
    let is_shared = GATE.is_shared.load(Ordering::Relaxed);
    if is_shared {
        enter_shared();
    }
    Inside(is_shared)
}

#[cold]
fn enter_shared() {
    if DEPTH.get() == 0 {
        GATE.note_thread();
        GATE.come_in();
    }
    DEPTH.set(DEPTH.get() + 1);
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 {
            leave_shared();
        }
    }
}

#[cold]
fn leave_shared() {
    DEPTH.set(DEPTH.get() - 1);
    if DEPTH.get() == 0 {
        GATE.go_out();
    }
}
