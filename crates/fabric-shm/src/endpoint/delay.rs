//! A delay before every send, with which a test measures how reliably a slower build is detected.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Environment variable of the ranks with the delay in nanoseconds.
const VARIABLE: &str = "CORNERSTONE_TEST_SEND_DELAY_NS";

/// Waits for the delay in the environment, if there is one.
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
