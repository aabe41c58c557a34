//! Waits with a deadline for condition variables and semaphores: functions with the names and types of the C library's.
//!
//! If another thread or a child of the process may end such a wait, the wait takes real time, as in `waiting`.

use libc::{ETIMEDOUT, c_int, clockid_t, pthread_cond_t, pthread_mutex_t, sem_t, timespec};

use crate::moments::{clock_of, moment_ps, real_after};
use crate::state;
use crate::waiting::{Own, is_alone, sleep_in_steps};

/// A deadline of the program in virtual time, past or to come.
struct Deadline {
    clock: clockid_t,
    now: u64,
    until: u64,
}

impl Deadline {
    /// Reads a deadline of `clock`, or, without one, of the clock that it is probably meant for. Returns `None` if time
    /// is real, or if the deadline is invalid, which the C library refuses.
    ///
    /// # Safety
    /// It is null or live.
    unsafe fn read(deadline: *const timespec, clock: Option<clockid_t>) -> Option<Self> {
        // SAFETY: as the caller promises.
        let deadline = unsafe { deadline.as_ref() }?;
        let clock = clock.unwrap_or_else(|| clock_of(deadline));
        let until = moment_ps(clock, deadline)?;
        Some(Deadline { clock, now: state::now_ps()?, until })
    }

    fn is_over(&self) -> bool {
        self.until <= self.now
    }

    /// Returns the same deadline by the system's clock.
    fn real(&self) -> timespec {
        real_after(self.clock, self.until.saturating_sub(self.now))
    }

    /// Lets virtual time pass until the deadline.
    fn pass(&self) {
        if !self.is_over() {
            state::sleep_until(self.until);
        }
    }
}

/// Waits for a condition variable by `call`, with a deadline of the system's clock. The given deadline is one of
/// `clock`, or of the clock of the condition variable.
///
/// # Safety
/// The thread holds `mutex`. The deadline is null or live.
unsafe fn wait_on_condition(
    mutex: *mut pthread_mutex_t,
    (deadline, clock): (*const timespec, Option<clockid_t>),
    call: &dyn Fn(*const timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let read = unsafe { Deadline::read(deadline, clock) };
    let Some(deadline) = read else { return call(deadline) };
    if !deadline.is_over() && is_alone() {
        // No thread can signal it. Another rank that shares it can only change what the program checks next, and may
        // need the mutex for that.
        // SAFETY: as the caller promises.
        let unlocked = unsafe { libc::pthread_mutex_unlock(mutex) };
        if unlocked != 0 {
            return unlocked;
        }
        deadline.pass();
        // SAFETY: it was locked before.
        let locked = unsafe { libc::pthread_mutex_lock(mutex) };
        return if locked == 0 { ETIMEDOUT } else { locked };
    }
    let real = deadline.real();
    let outcome = call(&raw const real);
    if outcome == ETIMEDOUT {
        deadline.pass();
    }
    outcome
}

/// Implements `pthread_cond_timedwait` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: *const timespec,
) -> c_int {
    static OWN: Own = Own::new(c"pthread_cond_timedwait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        *mut pthread_cond_t,
        *mut pthread_mutex_t,
        *const timespec,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: as the caller has promised.
    let call = |deadline: *const timespec| unsafe { own(condition, mutex, deadline) };
    // SAFETY: the caller promises a deadline, and that the thread holds the mutex.
    unsafe { wait_on_condition(mutex, (deadline, None), &call) }
}

/// Implements `pthread_cond_clockwait` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    static OWN: Own = Own::new(c"pthread_cond_clockwait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        *mut pthread_cond_t,
        *mut pthread_mutex_t,
        clockid_t,
        *const timespec,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: as the caller has promised.
    let call = |deadline: *const timespec| unsafe { own(condition, mutex, clock, deadline) };
    // SAFETY: the caller promises a deadline, and that the thread holds the mutex.
    unsafe { wait_on_condition(mutex, (deadline, Some(clock)), &call) }
}

/// Waits for a semaphore by `call`, with a deadline of the system's clock. The given deadline is one of `clock`.
///
/// # Safety
/// The semaphore is valid. The deadline is null or live.
unsafe fn wait_on_semaphore(
    semaphore: *mut sem_t,
    (deadline, clock): (*const timespec, clockid_t),
    call: &dyn Fn(*const timespec) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    let read = unsafe { Deadline::read(deadline, Some(clock)) };
    let Some(deadline) = read else { return call(deadline) };
    // SAFETY: as the caller promises.
    let mut take = || c_int::from(unsafe { libc::sem_trywait(semaphore) } == 0);
    if take() != 0 {
        return 0;
    }
    if !deadline.is_over() && is_alone() {
        if sleep_in_steps(deadline.now, deadline.until, &mut take) != 0 {
            return 0;
        }
    } else {
        let real = deadline.real();
        let outcome = call(&raw const real);
        // SAFETY: the place is this thread's own.
        if outcome == 0 || unsafe { *libc::__errno_location() } != ETIMEDOUT {
            return outcome;
        }
        deadline.pass();
    }
    // SAFETY: the place is this thread's own.
    unsafe { *libc::__errno_location() = ETIMEDOUT };
    -1
}

/// Implements `sem_timedwait` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_timedwait(
    semaphore: *mut sem_t,
    deadline: *const timespec,
) -> c_int {
    static OWN: Own = Own::new(c"sem_timedwait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(*mut sem_t, *const timespec) -> c_int =
        unsafe { OWN.function() };
    // SAFETY: as the caller has promised.
    let call = |deadline: *const timespec| unsafe { own(semaphore, deadline) };
    // SAFETY: the caller promises a deadline and a semaphore.
    unsafe { wait_on_semaphore(semaphore, (deadline, libc::CLOCK_REALTIME), &call) }
}

/// Implements `sem_clockwait` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sem_clockwait(
    semaphore: *mut sem_t,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    static OWN: Own = Own::new(c"sem_clockwait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(*mut sem_t, clockid_t, *const timespec) -> c_int =
        unsafe { OWN.function() };
    // SAFETY: as the caller has promised.
    let call = |deadline: *const timespec| unsafe { own(semaphore, clock, deadline) };
    // SAFETY: the caller promises a deadline and a semaphore.
    unsafe { wait_on_semaphore(semaphore, (deadline, clock), &call) }
}
