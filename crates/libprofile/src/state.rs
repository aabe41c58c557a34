//! The recorder of this process, from MPI_Init to the process's end.

use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use profile::layout::{ABORTED, FINALIZED, RUNNING, head};

use crate::abi::*;
use crate::checks::{Ends, Stores};
use crate::clock::{Untimed, choose, nanoseconds, ticks};
use crate::data::Call;
use crate::mapped::Mapped;
use crate::mpi;
use crate::real;
use crate::recorder::Recorder;

/// The state that the calls of a process share.
pub(crate) struct State {
    recorder: UnsafeCell<Recorder>,
    /// True if the program may call from several threads at once. Then `is_taken` is their lock.
    has_threads: bool,
    is_taken: AtomicBool,
    /// True if calls are checked before they begin.
    is_checking: bool,
    /// True if a call is under way: calls of functions that the library calls back are part of it. Only without
    /// threads.
    is_inside: Cell<bool>,
}

/// Number of readings of all clocks for one stamp.
const READINGS: usize = 8;

static STATE: AtomicPtr<State> = AtomicPtr::new(null_mut());

/// Returns the state, if calls are recorded. The caller must end with [`State::note`] or [`State::leave`].
#[inline(always)]
pub(crate) fn enter() -> Option<&'static State> {
    // Acquire: partner of the release in `begin`.
    let state = STATE.load(Ordering::Acquire);
    // SAFETY: it is null or points to a state that is never freed.
    let state = unsafe { state.as_ref() }?;
    if !state.has_threads && state.is_inside.replace(true) {
        return None;
    }
    Some(state)
}

impl State {
    /// Prepares for a call that begins, and may complete operations.
    #[inline(always)]
    pub(crate) fn before(&self, call: Call, ends: Ends<'_>) {
        if self.is_checking {
            self.with(|recorder| recorder.check_before(call, ends));
        }
    }

    /// Records the call that has ended.
    #[inline(always)]
    pub(crate) fn note(&self, note: impl FnOnce(&mut Recorder)) {
        self.with(note);
        self.leave();
    }

    #[inline(always)]
    fn with(&self, act: impl FnOnce(&mut Recorder)) {
        // Acquire, partner of the release below: a thread sees the records of the thread before it.
        while self.has_threads && self.is_taken.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: without threads `enter` admits one caller at a time; with threads `is_taken` does.
        act(unsafe { &mut *self.recorder.get() });
        if self.has_threads {
            self.is_taken.store(false, Ordering::Release);
        }
    }

    /// Ends a call without recording it.
    #[inline(always)]
    pub(crate) fn leave(&self) {
        self.is_inside.set(false);
    }
}

/// The time at which MPI_Init was called.
pub(crate) struct Beginning {
    ticks: u64,
    ns: u64,
}

impl Beginning {
    pub(crate) fn now() -> Self {
        choose();
        Beginning { ticks: ticks(), ns: nanoseconds() }
    }
}

/// Begins to record, if the launcher requests it and the program's MPI is the supported one.
pub(crate) fn begin(beginning: &Beginning) {
    if !STATE.load(Ordering::Acquire).is_null() || real::library().is_none() {
        return;
    }
    let Some(mut mapped) = Mapped::take() else { return };
    let (mut rank, mut size, mut level) = (0, 0, 0);
    mpi::comm_rank(COMM_WORLD, &mut rank);
    mpi::comm_size(COMM_WORLD, &mut size);
    mpi::query_thread(&mut level);
    mapped.write(head::RANK, rank as u64);
    mapped.write(head::SIZE, size as u64);
    mapped.write(head::INIT_TICKS, beginning.ticks);
    mapped.write(head::INIT_NS, beginning.ns);
    mapped.write(head::SYSTEM_CLOCK, u64::from(choose()));
    let mut host = [0_u8; 256];
    // SAFETY: the array is live and has the given length.
    unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len() - 1) };
    let length = host.iter().position(|&byte| byte == 0).unwrap_or(0);
    mapped.write_text(head::HOST, head::HOST_WORDS, &host[..length]);
    let mut recorder = Recorder::new(mapped, rank as u32);
    // All ranks have these communicators, in the same order.
    recorder.communicator(COMM_WORLD);
    recorder.communicator(COMM_SELF);
    let kib = recorder.note_memory();
    let mapped = &mut recorder.mapped;
    mapped.write(head::BEGIN_MEMORY_KIB, kib);
    stamp(mapped, [head::BEGIN_TICKS, head::BEGIN_NS, head::BEGIN_TIME]);
    mapped.write(head::LAST_TICKS, mapped.read(head::BEGIN_TICKS));
    mapped.write(head::STATE, RUNNING);
    let has_threads = level >= THREAD_MULTIPLE;
    if let Some(checks) = &mut recorder.checks {
        let is_synchronous = mpi::make_synchronous();
        checks.set_synchronous(is_synchronous);
        // A thread's call may change memory while another thread is between two.
        recorder.stores = (is_synchronous && !has_threads).then(Stores::new);
    }
    let state = State {
        is_checking: recorder.checks.is_some(),
        recorder: UnsafeCell::new(recorder),
        has_threads,
        is_taken: AtomicBool::new(false),
        is_inside: Cell::new(false),
    };
    // SAFETY: the function may be called in a process that was forked, of which this thread is the only one.
    unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    // Release: a thread that sees the pointer sees the state.
    STATE.store(Box::leak(Box::new(state)), Ordering::Release);
}

/// Stops the recording in a child that was forked, because it is not a rank.
extern "C" fn forget() {
    STATE.store(null_mut(), Ordering::Release);
}

/// Writes the current time of all clocks. Of several readings that takes the shortest: between two clocks the process may
/// lose its processor, and then calls of this rank would seem to be before others that they followed.
fn stamp(mapped: &mut Mapped, [at_ticks, at_ns, at_time]: [usize; 3]) {
    let _untimed = Untimed::begin();
    let reading = |_| {
        let before = ticks();
        let (time, ns) = (mpi::wtime().to_bits(), nanoseconds());
        let span = ticks().saturating_sub(before);
        (span, before + span / 2, ns, time)
    };
    let best = (0..READINGS).map(reading).min_by_key(|one| one.0);
    let (_, ticks, ns, time) = best.expect("there are several");
    mapped.write(at_ticks, ticks);
    mapped.write(at_ns, ns);
    mapped.write(at_time, time);
}

impl Recorder {
    /// Records that MPI_Finalize was called.
    pub(crate) fn note_end(&mut self) {
        self.note_memory();
        stamp(&mut self.mapped, [head::END_TICKS, head::END_NS, head::END_TIME]);
    }

    /// Records that MPI_Finalize has returned.
    pub(crate) fn note_finalized(&mut self) {
        self.mapped.write(head::STATE, FINALIZED);
    }

    /// Records that MPI_Abort was called.
    pub(crate) fn note_abort(&mut self) {
        self.mapped.write(head::STATE, ABORTED);
    }
}
