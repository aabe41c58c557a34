//! Ctrl-C and similar signals between launches. While ranks run, the fabric handles signals itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::failure::Failure;

/// Records the signal that requests the end of this process. A second signal ends it at once.
#[derive(Clone)]
pub(crate) struct Interruption {
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Begins to record signals. Signals that cannot be recorded keep their default action.
    pub(crate) fn watch() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let again = Arc::new(AtomicBool::new(false));
            // The order matters: the first signal must find `again` unset and then set it.
            let _ = signal_hook::flag::register_conditional_shutdown(
                number,
                128 + number,
                Arc::clone(&again),
            );
            let _ = signal_hook::flag::register(number, again);
            let _ = signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize);
        }
        Interruption { signal }
    }

    /// Returns the signal that has arrived, if any.
    pub(crate) fn signal(&self) -> Option<i32> {
        // Relaxed: its partner is the store in the handler, which publishes no other memory.
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}

/// Records SIGUSR1, with which the user requests the state of the ranks of a program. SIGUSR2 is ignored, because it
/// would end this process.
pub(crate) struct Question {
    is_requested: Arc<AtomicBool>,
}

impl Question {
    /// Begins to record the signal.
    pub(crate) fn watch() -> Self {
        let is_requested = Arc::new(AtomicBool::new(false));
        // A signal that cannot be recorded keeps its default action.
        let _ = signal_hook::flag::register(SIGUSR1, Arc::clone(&is_requested));
        let _ = signal_hook::flag::register(SIGUSR2, Arc::default());
        Question { is_requested }
    }

    /// Returns whether the signal has arrived since the last call.
    pub(crate) fn is_requested(&self) -> bool {
        // Relaxed: its partner is the store in the handler, which publishes no other memory.
        self.is_requested.swap(false, Ordering::Relaxed)
    }
}

/// Returns the failure of a command that this signal ended.
pub(crate) fn interrupted(signal: i32) -> Failure {
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
    Failure::signal(format!("interrupted by {name}; all ranks were ended"), signal)
}
