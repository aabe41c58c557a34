//! Virtual time for the clocks of a program, with a preloaded library that replaces the system's clocks; and the
//! moments at which the program enters and leaves its message-passing library.
//!
//! The preloaded library (`libvirtual-time`) does not depend on a fabric. It calls functions that this module sets,
//! which return virtual time in the thread that communicates. Other threads see real time.

use std::cell::{Cell, RefCell};
use std::mem::transmute;
use std::rc::{Rc, Weak};

use contract::Time;

use crate::caller::Caller;
use crate::wire::request::ProcessRequest;

/// The export of the preloaded library that sets the functions.
const SET: &std::ffi::CStr = c"cornerstone_set_virtual_clock";
/// Result for threads and moments without virtual time.
const NO_TIME: u64 = u64::MAX;

/// The time if the simulation has ended before the program. It is later than all that the program may wait for, so that
/// the program reaches its next call, which returns the reason. With the system's clock it would sleep in real time.
const AFTER_THE_END: u64 = u64::MAX / 2;

/// The functions that the preloaded library calls: for the time in picoseconds, for a sleep until such a time, and when
/// libraries that observe the program's calls are entered or left.
#[repr(C)]
struct Functions {
    now_ps: extern "C" fn() -> u64,
    sleep_until_ps: extern "C" fn(u64),
    note_library: extern "C" fn(bool),
}

/// Sets the functions, or removes them if they are null. Returns the picoseconds that the program has slept so far.
type Set = unsafe extern "C" fn(*const Functions) -> u64;

static FUNCTIONS: Functions = Functions { now_ps, sleep_until_ps, note_library };

thread_local! {
    static CALLER: RefCell<Weak<Caller>> = const { RefCell::new(Weak::new()) };
    /// The time while this rank ends its part. The end takes no time.
    static STOPPED_AT_PS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A guard during which the program's clocks return virtual time.
pub(crate) struct VirtualClock(Set);

impl VirtualClock {
    /// Sets the functions. Returns `None` if no library is preloaded.
    pub(crate) fn set(caller: &Rc<Caller>) -> Option<Self> {
        CALLER.with_borrow_mut(|place| *place = Rc::downgrade(caller));
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, SET.as_ptr()) };
        if found.is_null() {
            return None;
        }
        // SAFETY: our own library alone has this name, with this type.
        let set = unsafe { transmute::<*mut libc::c_void, Set>(found) };
        // SAFETY: the functions are static.
        let slept_ps = unsafe { set(&FUNCTIONS) };
        if slept_ps > 0 {
            sleep_until_ps(now_ps().saturating_add(slept_ps));
        }
        Some(VirtualClock(set))
    }

    /// Stops time until this is dropped.
    pub(crate) fn stop(&self) {
        STOPPED_AT_PS.set(Some(now_ps()));
    }
}

impl Drop for VirtualClock {
    fn drop(&mut self) {
        // SAFETY: null removes the functions.
        unsafe { (self.0)(std::ptr::null()) };
        STOPPED_AT_PS.set(None);
    }
}

/// Returns the caller of this thread, if it may be used now.
fn caller() -> Option<Rc<Caller>> {
    // Handlers of `atexit` may call functions of MPI, and run when the storage of the thread has been destroyed.
    let caller_here = CALLER.try_with(|place| place.try_borrow().ok()?.upgrade());
    let caller = caller_here.ok().flatten()?;
    (!caller.is_busy()).then_some(caller)
}

extern "C" fn now_ps() -> u64 {
    if let Some(ps) = STOPPED_AT_PS.get() {
        return ps;
    }
    let Some(caller) = caller() else { return NO_TIME };
    caller.virtual_now().map_or(AFTER_THE_END, Time::as_ps)
}

/// Records that the program has called a function of a library over the endpoint of this thread, or that the function
/// returns. The library's time between the two is not computing of the program, if it is short.
pub(crate) extern "C" fn note_library(enters: bool) {
    if let Some(caller) = caller() {
        caller.note_library(enters);
    }
}

extern "C" fn sleep_until_ps(ps: u64) {
    if let (Some(caller), None) = (caller(), STOPPED_AT_PS.get()) {
        // The next call that can return an error returns it.
        let _ = caller.call(&ProcessRequest::WaitUntilTime(Time::from_ps(ps)), &[], |_, _, _| ());
    }
}
