//! Ctrl-C and similar signals between launches. While ranks run, the fabric handles signals itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::failure::Failure;

/// Records the signal that asks this process to end. A second signal ends it at once.
pub(crate) struct Interruption {
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Begins to record signals. Signals that cannot be recorded keep their default action.
    pub(crate) fn watch() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let again = Arc::new(AtomicBool::new(false));
            // In this order, so that the first signal finds `again` unset and then sets it.
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

    /// The signal that has arrived, if any.
    pub(crate) fn signal(&self) -> Option<i32> {
        // Relaxed: its partner is the store in the handler, which publishes no other memory.
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}

/// Records SIGUSR1, by which the user asks what the ranks of a program do. SIGUSR2 is ignored, as it would end this
/// process.
pub(crate) struct Question {
    is_asked: Arc<AtomicBool>,
}

impl Question {
    /// Begins to record the signal.
    pub(crate) fn watch() -> Self {
        let is_asked = Arc::new(AtomicBool::new(false));
        // A signal that cannot be recorded keeps its action.
        let _ = signal_hook::flag::register(SIGUSR1, Arc::clone(&is_asked));
        let _ = signal_hook::flag::register(SIGUSR2, Arc::default());
        Question { is_asked }
    }

    /// Returns whether the signal has arrived since the last call.
    pub(crate) fn is_asked(&self) -> bool {
        // Relaxed: its partner is the store in the handler, which publishes no other memory.
        self.is_asked.swap(false, Ordering::Relaxed)
    }
}

/// The failure of a command that was asked to end by this signal.
pub(crate) fn interrupted(signal: i32) -> Failure {
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
    Failure::signal(format!("interrupted by {name}; all ranks were ended"), signal)
}
