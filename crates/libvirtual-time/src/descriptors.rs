//! Waits for descriptors: functions with the names and types of the C library's.

use libc::{
    c_int, epoll_event, fd_set, nfds_t, pollfd, sigset_t, suseconds_t, time_t, timespec, timeval,
};

use crate::moments::{ps_of, shortened, timespec_of};
use crate::state;
use crate::waiting::{Own, wait};

const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_US: u64 = 1_000_000;
static NO_TIME: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
const BITS_OF_A_WORD: usize = u64::BITS as usize;
const SET_WORDS: usize = libc::FD_SETSIZE / BITS_OF_A_WORD;

/// Returns whether a `select` may wait for some time with sets of the usual length. Longer sets are not copied: the
/// system accepts any count of descriptors and reads no more than there can be.
fn can_wait(count: c_int, span: Option<u64>) -> bool {
    span.is_some_and(|ps| ps > 0) && usize::try_from(count).is_ok_and(|all| all <= libc::FD_SETSIZE)
}

/// Returns the span of a timeout in milliseconds, or `None` if it never ends.
fn span_of_ms(timeout_ms: c_int) -> Option<u64> {
    u64::try_from(timeout_ms).ok().map(|ms| ms * PS_PER_MS)
}

/// Returns the span of a timeout, or `None` if it never ends or is invalid. The C library refuses an invalid one.
///
/// # Safety
/// It is null or live.
unsafe fn span_of(timeout: *const timespec) -> Option<u64> {
    // SAFETY: as the caller promises.
    unsafe { timeout.as_ref() }.and_then(ps_of).map(shortened)
}

/// Implements `poll` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn poll(fds: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int {
    static OWN: Own = Own::new(c"poll");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(*mut pollfd, nfds_t, c_int) -> c_int =
        unsafe { OWN.function() };
    wait(span_of_ms(timeout_ms), count > 0, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(fds, count, if waits { timeout_ms } else { 0 }) }
    })
}

/// Implements `poll` by the name that the C library's headers use in programs compiled with checks of lengths.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout_ms: c_int,
    bytes: usize,
) -> c_int {
    static OWN: Own = Own::new(c"__poll_chk");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(*mut pollfd, nfds_t, c_int, usize) -> c_int =
        unsafe { OWN.function() };
    wait(span_of_ms(timeout_ms), count > 0, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(fds, count, if waits { timeout_ms } else { 0 }, bytes) }
    })
}

/// Implements `ppoll` of Linux.
///
/// # Safety
/// As Linux requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ppoll(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    static OWN: Own = Own::new(c"ppoll");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        *mut pollfd,
        nfds_t,
        *const timespec,
        *const sigset_t,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: the caller promises null or a live one.
    let span = unsafe { span_of(timeout) };
    wait(span, count > 0, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(fds, count, if waits { timeout } else { &raw const NO_TIME }, mask) }
    })
}

/// Implements `ppoll` by the name that the C library's headers use in programs compiled with checks of lengths.
///
/// # Safety
/// As Linux requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    bytes: usize,
) -> c_int {
    static OWN: Own = Own::new(c"__ppoll_chk");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        *mut pollfd,
        nfds_t,
        *const timespec,
        *const sigset_t,
        usize,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: the caller promises null or a live one.
    let span = unsafe { span_of(timeout) };
    wait(span, count > 0, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(fds, count, if waits { timeout } else { &raw const NO_TIME }, mask, bytes) }
    })
}

/// The sets of a `select`, which each call overwrites. They are no longer than the type, and not allocated: `select`
/// may be called in signal handlers, and may be cancelled.
struct Sets {
    places: [*mut u64; 3],
    given: [[u64; SET_WORDS]; 3],
    words: usize,
}

impl Sets {
    /// Copies the sets.
    ///
    /// # Safety
    /// Each is null or has bits for `count` descriptors, in words, and no more than the type has.
    unsafe fn copy(places: [*mut fd_set; 3], count: c_int) -> Self {
        let words = usize::try_from(count).unwrap_or(0).div_ceil(BITS_OF_A_WORD).min(SET_WORDS);
        let places = places.map(<*mut fd_set>::cast::<u64>);
        let mut given = [[0; SET_WORDS]; 3];
        for (place, given) in places.iter().zip(&mut given).filter(|(place, _)| !place.is_null()) {
            // SAFETY: as the caller promises.
            unsafe { place.copy_to(given.as_mut_ptr(), words) };
        }
        Sets { places, given, words }
    }

    fn restore(&self) {
        let places = self.places.iter().zip(&self.given);
        for (place, given) in places.filter(|(place, _)| !place.is_null()) {
            // SAFETY: as many words were copied from it.
            unsafe { place.copy_from(given.as_ptr(), self.words) };
        }
    }

    fn any(&self) -> bool {
        self.given.iter().flatten().any(|&word| word != 0)
    }
}

/// Implements `select` of POSIX. As on Linux, it leaves the remaining time in `timeout`.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    static OWN: Own = Own::new(c"select");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        c_int,
        *mut fd_set,
        *mut fd_set,
        *mut fd_set,
        *mut timeval,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: the caller promises null or a live one.
    let span = unsafe { timeout.as_ref() }.and_then(span_of_timeval);
    if !can_wait(count, span) {
        // SAFETY: as the caller has promised.
        return unsafe { own(count, read, write, except, timeout) };
    }
    let begin = span.and_then(|_| state::now_ps());
    // SAFETY: the caller promises sets for these descriptors.
    let sets = unsafe { Sets::copy([read, write, except], count) };
    let outcome = wait(span, sets.any(), &mut |waits| {
        let mut no_time = timeval { tv_sec: 0, tv_usec: 0 };
        sets.restore();
        // SAFETY: as the caller has promised.
        unsafe { own(count, read, write, except, if waits { timeout } else { &raw mut no_time }) }
    });
    if let (Some(span), Some(begin), Some(now)) = (span, begin, begin.and_then(|_| state::now_ps()))
    {
        let left = timespec_of(span.saturating_sub(now - begin).into());
        // SAFETY: it had a span, so it is live.
        unsafe { timeout.write(timeval { tv_sec: left.tv_sec, tv_usec: left.tv_nsec / 1000 }) };
    }
    outcome
}

/// Returns the span of a timeout, or `None` if it is invalid, which the C library refuses. Its microseconds may be a
/// second or more.
fn span_of_timeval(timeout: &timeval) -> Option<u64> {
    let (s, us): (time_t, suseconds_t) = (timeout.tv_sec, timeout.tv_usec);
    let us = u128::try_from(s).ok()? * 1_000_000 + u128::try_from(us).ok()?;
    Some(shortened(us * u128::from(PS_PER_US)))
}

/// Implements `pselect` of POSIX.
///
/// # Safety
/// As POSIX requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    except: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    static OWN: Own = Own::new(c"pselect");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        c_int,
        *mut fd_set,
        *mut fd_set,
        *mut fd_set,
        *const timespec,
        *const sigset_t,
    ) -> c_int = unsafe { OWN.function() };
    // SAFETY: the caller promises null or a live one.
    let span = unsafe { span_of(timeout) };
    if !can_wait(count, span) {
        // SAFETY: as the caller has promised.
        return unsafe { own(count, read, write, except, timeout, mask) };
    }
    // SAFETY: the caller promises sets for these descriptors.
    let sets = unsafe { Sets::copy([read, write, except], count) };
    wait(span, sets.any(), &mut |waits| {
        sets.restore();
        let timeout = if waits { timeout } else { &raw const NO_TIME };
        // SAFETY: as the caller has promised.
        unsafe { own(count, read, write, except, timeout, mask) }
    })
}

/// Implements `epoll_wait` of Linux.
///
/// # Safety
/// As Linux requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_wait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
) -> c_int {
    static OWN: Own = Own::new(c"epoll_wait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(c_int, *mut epoll_event, c_int, c_int) -> c_int =
        unsafe { OWN.function() };
    wait(span_of_ms(timeout_ms), true, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(epoll, events, count, if waits { timeout_ms } else { 0 }) }
    })
}

/// Implements `epoll_pwait` of Linux.
///
/// # Safety
/// As Linux requires.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn epoll_pwait(
    epoll: c_int,
    events: *mut epoll_event,
    count: c_int,
    timeout_ms: c_int,
    mask: *const sigset_t,
) -> c_int {
    static OWN: Own = Own::new(c"epoll_pwait");
    // SAFETY: this is its type.
    let own: unsafe extern "C-unwind" fn(
        c_int,
        *mut epoll_event,
        c_int,
        c_int,
        *const sigset_t,
    ) -> c_int = unsafe { OWN.function() };
    wait(span_of_ms(timeout_ms), true, &mut |waits| {
        // SAFETY: as the caller has promised.
        unsafe { own(epoll, events, count, if waits { timeout_ms } else { 0 }, mask) }
    })
}
