//! A command in progress, with all processes that it leaves behind.

use std::io::Read;
use std::process::{Child as Process, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{LAUNCHES_BEFORE, Unmeasured};
use crate::interruption::Interruption;
use crate::orphans;

/// Interval of the checks whether it has ended. A launch takes at least a hundred times as long.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Time that a command has to end after the request.
const GRACE: Duration = Duration::from_secs(5);

pub(super) struct Child {
    process: Process,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

pub(super) struct Finished {
    /// Exit status; `None` if a signal ended it.
    pub(super) status: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Child {
    /// Starts a line of the shell, with `words` after it.
    pub(super) fn start(
        line: &str,
        words: &[&str],
        launches_before: Option<u32>,
    ) -> Result<Child, String> {
        orphans::adopt();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{line} \"$@\"")).arg("sh").args(words);
        match launches_before {
            Some(number) => command.env(LAUNCHES_BEFORE, number.to_string()),
            None => command.env_remove(LAUNCHES_BEFORE),
        };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process =
            command.spawn().map_err(|error| format!("cannot start a shell: {error}"))?;
        let (stdout, stderr) = (drain(process.stdout.take()), drain(process.stderr.take()));
        Ok(Child { process, stdout, stderr })
    }

    /// Waits for its end. Ends it at `until`, or when this process receives a signal to end.
    pub(super) fn wait(
        mut self,
        until: Instant,
        interruption: &Interruption,
    ) -> Result<Finished, Unmeasured> {
        let ended = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break Ok(status.code()),
                Ok(None) => {}
                Err(error) => {
                    break Err(Unmeasured::Failed(format!("cannot wait for it: {error}")));
                }
            }
            if let Some(signal) = interruption.signal() {
                break Err(Unmeasured::Interrupted(signal));
            }
            if Instant::now() >= until {
                break Err(Unmeasured::TimeOver);
            }
            std::thread::sleep(POLL_EVERY);
        };
        if ended.is_err() {
            self.end();
        }
        // Processes that it left behind would disturb the next launch, and keep the pipes open.
        orphans::end();
        let (stdout, stderr) = (joined(self.stdout), joined(self.stderr));
        Ok(Finished { status: ended?, stdout, stderr })
    }

    /// Requests its end, so that it can end its ranks. Kills it if it does not end.
    fn end(&mut self) {
        if let Some(process) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(process, Signal::TERM);
        }
        let limit = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < limit {
            std::thread::sleep(POLL_EVERY);
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // After an error, the bytes that were read before it are used.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn joined(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}
