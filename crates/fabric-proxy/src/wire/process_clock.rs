//! The computing of a process so far, as the other end sees it: by the clock of the process's processor time.

use std::os::unix::fs::MetadataExt;

use super::line::Line;
use crate::stopwatch::clock_ns;

/// Number of links of a folder of `/proc`, in addition to one for each folder in it.
const LINKS_OF_A_FOLDER: u64 = 2;

impl Line {
    /// Returns the processor time that the process has computed since the last reply, or 0 if it is unknown: that of a
    /// process with several threads is, of which only one counts.
    pub fn computed_at_least_ns(&self) -> u64 {
        let computing = self.computes_since().and_then(|(since_ns, process)| {
            Some(clock_ns(clock_of(process)?).saturating_sub(since_ns))
        });
        computing.unwrap_or(0)
    }
}

/// Returns the clock of the processor time of a process, or `None` if it has several threads, of which only one counts.
fn clock_of(process: u64) -> Option<libc::clockid_t> {
    let threads =
        std::fs::metadata(format!("/proc/{process}/task")).ok()?.nlink() - LINKS_OF_A_FOLDER;
    let mut clock = 0;
    // SAFETY: the place is live.
    let found = unsafe { libc::clock_getcpuclockid(process as libc::pid_t, &raw mut clock) } == 0;
    (found && threads == 1).then_some(clock)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// The process of a test has several threads, a shell has one, and the process with number 0 does not exist.
    #[test]
    fn only_processes_of_one_thread_have_a_clock() {
        assert_eq!((clock_of(std::process::id().into()), clock_of(0)), (None, None));
        let script = "read line; while :; do :; done";
        let mut shell =
            Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        let clock = clock_of(shell.id().into()).expect("a shell has one thread");
        let before = clock_ns(clock);
        writeln!(shell.stdin.take().unwrap()).unwrap();
        while clock_ns(clock) < before + 1_000_000 {
            std::thread::yield_now();
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
