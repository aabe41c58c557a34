//! A delay before every send, so that a test can say how surely a slower build is found.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The length of the delay, in nanoseconds, in the environment of the ranks.
const VARIABLE: &str = "CORNERSTONE_TEST_SEND_DELAY_NS";

/// Waits as long as the environment says; no time if it says nothing.
pub(super) fn before_send() {
    static DELAY: OnceLock<Duration> = OnceLock::new();
    let delay = *DELAY.get_or_init(|| {
        let given = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
        Duration::from_nanos(given.unwrap_or(0))
    });
    if delay.is_zero() {
        return;
    }
    let begin = Instant::now();
    while begin.elapsed() < delay {
        std::hint::spin_loop();
    }
}
