//! The end of a simulation by a signal while nothing watches it: a rank that computes for seconds returns to nobody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::interruption::Interruption;
use crate::progress::note;

/// Time that a simulation has to end after a signal. What it measured is in the results file by then.
const END_WITHIN: Duration = Duration::from_millis(700);
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// Ends this process if a simulation does not end soon after a signal. Dropped when the simulation has ended.
pub(super) struct SignalGuard {
    has_ended: Arc<AtomicBool>,
}

impl SignalGuard {
    /// Begins to guard a simulation.
    pub(super) fn new(interruption: Interruption) -> SignalGuard {
        let has_ended = Arc::new(AtomicBool::new(false));
        let guarded = Arc::clone(&has_ended);
        // Without the thread a signal is noticed when the rank returns.
        let _ = std::thread::Builder::new().spawn(move || guard(&interruption, &guarded));
        SignalGuard { has_ended }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        // Relaxed: its partner is the load in `guard`, and it publishes no other memory.
        self.has_ended.store(true, Ordering::Relaxed);
    }
}

fn guard(interruption: &Interruption, has_ended: &AtomicBool) {
    let mut signalled: Option<Instant> = None;
    while !has_ended.load(Ordering::Relaxed) {
        if let Some(signal) = interruption.signal()
            && signalled.get_or_insert_with(Instant::now).elapsed() >= END_WITHIN
        {
            note(
                "cornerstone: error: interrupted in the middle of a simulated computation; the results so far are kept",
            );
            std::process::exit(128 + signal);
        }
        std::thread::sleep(CHECK_EVERY);
    }
}
