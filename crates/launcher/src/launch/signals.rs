//! Signals of the user: during a run they end the run instead of the launcher's process.

use std::fs::File;
use std::io::{self, Read};
use std::mem::{self, MaybeUninit};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::system::{self, check};

const CAUGHT: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Signals that mean nothing to the launcher but may to the program it runs.
const PASSED_ON: [i32; 2] = [libc::SIGUSR1, libc::SIGUSR2];

/// Descriptor to which the handler writes; -1 while no run is in progress.
static WAKE: AtomicI32 = AtomicI32::new(-1);
/// The first signal; 0 for none.
static FIRST: AtomicI32 = AtomicI32::new(0);

/// Signals to forward, one bit each by its number.
static TO_PASS: AtomicU32 = AtomicU32::new(0);

/// Catches signals until it is dropped.
pub(super) struct Signals {
    /// Readable once a signal has arrived.
    pub(super) event: File,
    before: Vec<(i32, libc::sigaction)>,
}

impl Signals {
    /// Begins to catch signals. One that this process ignores (under `nohup`, say) stays ignored. If `pass_on`, signals
    /// that may mean something to a program are caught too.
    pub(super) fn catch(pass_on: bool) -> io::Result<Self> {
        let event = File::from(system::event()?);
        if WAKE.compare_exchange(-1, event.as_raw_fd(), Ordering::SeqCst, Ordering::SeqCst).is_err()
        {
            return Err(io::Error::other("another run is under way in this process"));
        }
        FIRST.store(0, Ordering::SeqCst);
        let mut signals = Signals { event, before: Vec::new() };
        TO_PASS.store(0, Ordering::SeqCst);
        for signal in CAUGHT.into_iter().chain(PASSED_ON.into_iter().filter(|_| pass_on)) {
            // SAFETY: an action of zeros is the default action; `handler` only does what a handler may.
            unsafe {
                let mut before = MaybeUninit::<libc::sigaction>::uninit();
                check(libc::sigaction(signal, std::ptr::null(), before.as_mut_ptr()))?;
                let before = before.assume_init();
                if before.sa_sigaction == libc::SIG_IGN {
                    continue;
                }
                let mut action: libc::sigaction = mem::zeroed();
                action.sa_sigaction = handler as *const () as usize;
                action.sa_flags = libc::SA_RESTART;
                check(libc::sigaction(signal, &action, std::ptr::null_mut()))?;
                signals.before.push((signal, before));
            }
        }
        Ok(signals)
    }

    /// Returns the first signal that has arrived, if any.
    pub(super) fn first(&self) -> Option<i32> {
        // Empties the event, so that it is readable again only after another signal. An error means that it was empty.
        let _ = (&self.event).read(&mut [0; 8]);
        let signal = FIRST.load(Ordering::SeqCst);
        (signal != 0).then_some(signal)
    }
}

impl Signals {
    /// Returns the signals to forward that have arrived since the last call.
    pub(super) fn to_pass(&self) -> impl Iterator<Item = i32> {
        let bits = TO_PASS.swap(0, Ordering::SeqCst);
        PASSED_ON.into_iter().filter(move |signal| bits & 1 << signal != 0)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, before) in &self.before {
            // SAFETY: `before` is the action that the system returned.
            unsafe { libc::sigaction(*signal, before, std::ptr::null_mut()) };
        }
        WAKE.store(-1, Ordering::SeqCst);
    }
}

/// Records the signal and wakes the supervisor: an atomic and a write, both allowed in a handler.
extern "C" fn handler(signal: libc::c_int) {
    if PASSED_ON.contains(&signal) {
        TO_PASS.fetch_or(1 << signal, Ordering::SeqCst);
    } else {
        let _ = FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    }
    let one = 1u64;
    let event = WAKE.load(Ordering::SeqCst);
    // SAFETY: writes eight live bytes; errno is restored for the interrupted code.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::write(event, (&raw const one).cast(), 8);
        *errno = before;
    }
}
