//! The clocks of a program, with a preloaded library that replaces the system's clocks: they return virtual time. And
//! the moments at which the program enters and leaves its message-passing library.
//!
//! That library (`libvirtual-time`) knows no fabric. It asks whoever has told it whom to ask, which is done here, in
//! the thread that communicates. Other threads see real time.

use std::cell::{Cell, RefCell};
use std::mem::transmute;
use std::rc::{Rc, Weak};

use contract::Time;

use crate::ask::Ask;
use crate::caller::Caller;

/// The exports of the preloaded library.
const SET: &std::ffi::CStr = c"cornerstone_set_virtual_clock";
/// The answer to threads and moments without virtual time.
const NO_TIME: u64 = u64::MAX;

/// The time once the simulation has ended before the program: long after all that the program may wait for, so that it
/// comes to its next call, which tells it why. The system's clock would have it sleep in earnest.
const AFTER_THE_END: u64 = u64::MAX / 2;

/// Whom the preloaded library asks: for the time in picoseconds, and for a sleep until such a time; and whom it tells
/// of libraries that observe the program's calls.
#[repr(C)]
struct Functions {
    now_ps: extern "C" fn() -> u64,
    sleep_until_ps: extern "C" fn(u64),
    note_library: extern "C" fn(bool),
}

/// Gets the functions, or null; returns how long the program has slept so far.
type Set = unsafe extern "C" fn(*const Functions) -> u64;

static FUNCTIONS: Functions = Functions { now_ps, sleep_until_ps, note_library };

thread_local! {
    static CALLER: RefCell<Weak<Caller>> = const { RefCell::new(Weak::new()) };
    /// The time while this rank ends its part, of which the end takes none.
    static STOPPED_AT_PS: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The program's clocks return virtual time as long as this exists.
pub(crate) struct VirtualClock(Set);

impl VirtualClock {
    /// Has the program's clocks asked for here; `None` where no library is preloaded.
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

    /// Lets no more time pass until this is dropped.
    pub(crate) fn stop(&self) {
        STOPPED_AT_PS.set(Some(now_ps()));
    }
}

impl Drop for VirtualClock {
    fn drop(&mut self) {
        // SAFETY: null is what takes the functions away.
        unsafe { (self.0)(std::ptr::null()) };
        STOPPED_AT_PS.set(None);
    }
}

/// The program has called a function of a library over the endpoint of this thread. What the library does until
/// [`leave_library`] is no computing of the program, as far as it is short.
pub fn enter_library() {
    if let Some(caller) = caller() {
        caller.note_library(true);
    }
}

/// The function returns to the program.
pub fn leave_library() {
    if let Some(caller) = caller() {
        caller.note_library(false);
    }
}

/// The caller of this thread, if it may be used now.
fn caller() -> Option<Rc<Caller>> {
    let caller = CALLER.with(|place| place.try_borrow().ok()?.upgrade())?;
    (!caller.is_busy()).then_some(caller)
}

extern "C" fn now_ps() -> u64 {
    if let Some(ps) = STOPPED_AT_PS.get() {
        return ps;
    }
    let Some(caller) = caller() else { return NO_TIME };
    caller.virtual_now().map_or(AFTER_THE_END, Time::as_ps)
}

extern "C" fn note_library(enters: bool) {
    if enters { enter_library() } else { leave_library() }
}

extern "C" fn sleep_until_ps(ps: u64) {
    if let (Some(caller), None) = (caller(), STOPPED_AT_PS.get()) {
        // An error shows in the next call that can return it.
        let _ = caller.call(Ask::WaitUntilTime(Time::from_ps(ps)), |_| {}, |_, _| ());
    }
}
