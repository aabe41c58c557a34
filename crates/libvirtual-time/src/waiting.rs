//! Waits with a timeout that passes in virtual time.
//!
//! A wait whose condition already holds returns at once. Otherwise it may still be ended by another rank, whose actions
//! are in virtual time, or by another thread or a child of this process, whose actions are in real time. If the process
//! has neither threads nor children, the timeout passes in virtual time alone, and other ranks continue meanwhile. If
//! it has, the process waits in real time for the whole timeout, and only then virtual time passes.

use std::ffi::CStr;
use std::mem::transmute_copy;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{c_int, c_void};

use crate::state;

/// First step of a wait that another rank may end. Each further step is twice as long. So a long wait has few steps,
/// and its end is noticed after at most twice its time.
const STEP_PS: u64 = 10_000_000;
/// Number of links of a folder of `/proc`, in addition to one for each folder in it.
const LINKS_OF_A_FOLDER: libc::nlink_t = 2;

/// Waits by `call`. Its argument is true if it may wait for its timeout, and false if it must return at once. It
/// returns 0 if nothing has ended the wait. Only time ends the wait if `may_end` is false.
pub(crate) fn wait(
    timeout_ps: Option<u64>,
    may_end: bool,
    call: &mut dyn FnMut(bool) -> c_int,
) -> c_int {
    let Some(span) = timeout_ps.filter(|&ps| ps > 0) else { return call(true) };
    let Some(now) = state::now_ps() else { return call(true) };
    let until = now.saturating_add(span);
    let first = call(false);
    if first != 0 {
        return first;
    }
    if may_end && is_alone() {
        return sleep_in_steps(now, until, &mut || call(false));
    }
    let waited = if may_end { call(true) } else { 0 };
    if waited != 0 {
        return waited;
    }
    state::sleep_until(until);
    call(false)
}

/// Lets the time from `now` to `until` pass in steps, and checks after each. Returns the first check's result that is
/// not 0.
pub(crate) fn sleep_in_steps(now: u64, until: u64, check: &mut dyn FnMut() -> c_int) -> c_int {
    let (mut at, mut step) = (now, STEP_PS);
    while at < until {
        at = at.saturating_add(step).min(until);
        step = step.saturating_mul(2);
        state::sleep_until(at);
        let found = check();
        if found != 0 {
            return found;
        }
    }
    0
}

/// Returns whether the process has one thread and no children.
pub(crate) fn is_alone() -> bool {
    // SAFETY: numbers may be zero, and the names and places are live.
    unsafe {
        let mut folder = std::mem::zeroed::<libc::stat>();
        let counted = libc::stat(c"/proc/self/task".as_ptr(), &raw mut folder) == 0;
        if !counted || folder.st_nlink != LINKS_OF_A_FOLDER + 1 {
            return false;
        }
        let mut child = std::mem::zeroed::<libc::siginfo_t>();
        let any = libc::WEXITED | libc::WSTOPPED | libc::WCONTINUED;
        libc::waitid(libc::P_ALL, 0, &raw mut child, any | libc::WNOHANG | libc::WNOWAIT) != 0
    }
}

/// The C library's own function that a function of this library replaces.
pub(crate) struct Own {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Own {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Own { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Returns the function as `F`.
    ///
    /// # Safety
    /// `F` is a pointer to a function of the type that this name has.
    pub(crate) unsafe fn function<F: Copy>(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // Relaxed: all threads find the same address, and the code at it existed before.
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            let name = self.name.as_ptr();
            // Before its version 2.36 glibc's dlsym finds the oldest function of a name. The oldest one for condition
            // variables uses another layout of them, and would overwrite the program's memory.
            // SAFETY: both are C strings.
            found = unsafe { libc::dlvsym(libc::RTLD_NEXT, name, c"GLIBC_2.3.2".as_ptr()) };
            if found.is_null() {
                // SAFETY: the name is a C string.
                found = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
            }
            // The program has linked a function of this name, so its C library has it.
            assert!(!found.is_null(), "the C library lacks a function that the program calls");
            self.found.store(found, Ordering::Relaxed);
        }
        // SAFETY: it is not null, and has that type, as the caller promises.
        unsafe { transmute_copy::<*mut c_void, F>(&found) }
    }
}
