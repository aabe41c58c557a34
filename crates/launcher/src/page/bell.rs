//! Bells: ranks that also wait for descriptors sleep on those and on a bell, by which the other ranks wake them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::system;

/// A counter of the kernel (eventfd) that is readable after it was rung.
pub(crate) struct Bell(File);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        system::event().map(Bell::from)
    }

    /// Ends its owner's current or next [`sleep`](Bell::sleep).
    pub(crate) fn ring(&self) {
        // An error means that it was rung 2^64 times, which is enough.
        let _ = (&self.0).write(&1_u64.to_ne_bytes());
    }

    /// Sleeps until it was rung or `other` is readable, at most for `limit`. Returns whether the limit has passed.
    pub(crate) fn sleep(&self, other: Option<BorrowedFd<'_>>, limit: Duration) -> bool {
        let has_run_out = system::poll_readable(self.0.as_fd(), other, limit);
        // An error means that it was not rung.
        let _ = (&self.0).read(&mut [0; 8]);
        has_run_out
    }
}

impl From<OwnedFd> for Bell {
    fn from(descriptor: OwnedFd) -> Self {
        Bell(File::from(descriptor))
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_bell_ends_one_sleep_whether_it_is_rung_before_or_during_it() {
        const LONG: Duration = Duration::from_secs(100);
        let bell = Bell::new().unwrap();
        let begin = Instant::now();
        bell.ring();
        bell.ring();
        assert!(!bell.sleep(None, LONG));
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!bell.sleep(None, LONG)));
            bell.ring();
        });
        assert!(begin.elapsed() < LONG);
        // It is silent again: this sleep ends by its limit.
        assert!(bell.sleep(None, Duration::from_millis(1)));
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(&[1]).unwrap();
        assert!(!bell.sleep(Some(reader.as_fd()), LONG));
        assert!(begin.elapsed() < LONG);
    }
}
