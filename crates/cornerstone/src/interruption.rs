//! Ctrl-C and its like between launches; while ranks run, the fabric looks after signals itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Remembers the signal that asked this process to end. A second one ends it at once.
pub(crate) struct Interruption {
    signal: Arc<AtomicUsize>,
}

impl Interruption {
    /// Begins to watch. Signals that cannot be watched keep their ordinary meaning.
    pub(crate) fn watch() -> Self {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let again = Arc::new(AtomicBool::new(false));
            // In this order: the first signal finds `again` unset, and sets it.
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

    /// The signal that came, if one came.
    pub(crate) fn signal(&self) -> Option<i32> {
        // Its partner is the store in the handler; no other memory is handed over with it.
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}
