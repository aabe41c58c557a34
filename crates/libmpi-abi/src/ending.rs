//! The end of the process by the library, after MPI_Abort or a fatal error. The program's functions that `exit` calls
//! (those of `atexit`, and destructors of static objects) run meanwhile, and may call the library again.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::threads;

/// Time for the program's functions that `exit` calls, from the moment at which another thread must not continue. One of
/// these functions may wait for that thread. It is less than the time after which the launcher kills the process, whose
/// status would then be lost.
const LIMIT: Duration = Duration::from_millis(200);

/// The thread that ends the process, and the status in the lowest byte. 0 before the end.
static ENDING: AtomicU64 = AtomicU64::new(0);

/// Returns whether the library ends the process.
pub(crate) fn is_under_way() -> bool {
    ENDING.load(Ordering::Relaxed) != 0
}

/// Ends the process with a status. If it ends already, the first status remains.
pub(crate) fn end(status: u8) -> ! {
    let own = u64::from(threads::own_thread().unsigned_abs()) << 8 | u64::from(status);
    // Relaxed: the word is all that threads exchange.
    let before = ENDING.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed);
    let first = before.err().unwrap_or(own);
    let status = (first & 0xff) as c_int;
    threads::leave_for_good();
    if first >> 8 != own >> 8 {
        std::thread::sleep(LIMIT);
        // SAFETY: the process ends at once, and nothing runs afterwards.
        unsafe { libc::_exit(status) }
    }
    // SAFETY: one thread alone calls this. It calls it again if a function that `exit` runs ends here; the C library then
    // continues with the next of these functions. `std::process::exit` would panic.
    unsafe { libc::exit(status) }
}
