//! The process of one of several hosts, which starts the ranks there by the launcher.

use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use contract::{Error, Result};
use launcher::{LaunchError, LaunchOptions};
use rustix::process::{Signal, getpid, kill_process};

use crate::control::{Inbox, Message, Received, send};
use crate::handshake::{Caller, Purpose, connect};
use crate::host_watch::{HostWatch, Questions, RunOfHost};
use crate::secret::Secret;

/// The part of a run that the starting process has assigned to the process of one host.
pub struct HostPart {
    /// Address at which ranks call the process that started the run.
    pub call: SocketAddr,
    /// Ranks of the run on this host.
    pub ranks: Vec<usize>,
    /// The run's secret.
    pub secret: Secret,
    /// Task of the host: the programs to start.
    pub task: String,
}

/// The information for each rank that the process of a host starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankOfHost {
    /// Address of the process that started the run.
    pub call: SocketAddr,
    /// The run's secret.
    pub secret: Secret,
    /// The ranks of the run on its host, in the order in which the host numbers them.
    pub ranks: Vec<usize>,
}

impl RankOfHost {
    /// Reads the lines of [`HostPart::job`]. Returns `None` if they have another form.
    pub fn in_job(job: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(job).ok()?.lines();
        let call = lines.next()?.parse().ok()?;
        let secret = Secret::from_line(lines.next()?)?;
        let ranks = lines.next()?.split(',').map(|word| word.parse().ok());
        Some(RankOfHost { call, secret, ranks: ranks.collect::<Option<_>>()? })
    }

    /// Returns the rank in the run of this host's rank number `local`.
    ///
    /// # Errors
    /// If the host has fewer ranks.
    pub fn rank(&self, local: usize) -> Result<usize> {
        let why = || Error::Program(format!("the job names {} ranks", self.ranks.len()));
        self.ranks.get(local).copied().ok_or_else(why)
    }

    /// Returns a number for the host that no other host has: its lowest rank.
    pub fn host(&self) -> u16 {
        self.ranks.iter().min().map_or(0, |&lowest| lowest as u16)
    }
}

/// Time in which ranks that have joined may learn by themselves that the run was aborted. If one of them has died here,
/// the launcher ends the others and reports how it died, which an earlier signal would prevent.
const GRACE: Duration = Duration::from_millis(700);

/// Length of the longest valid line of a process's standard input.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Passes a report to the process that started the run.
pub(crate) type Report<'a> = &'a mut dyn FnMut(&[u8]);

impl HostPart {
    /// Reads it from the last two arguments of this process, and from its standard input, of which the rest is left.
    ///
    /// # Errors
    /// The invalid part.
    pub fn read(call: &str, ranks: &str) -> Result<Self> {
        let bad = |what: &str| Error::Program(format!("{what}; only `cornerstone` starts this"));
        let call = call.parse().map_err(|_| bad("the first argument is no address"))?;
        let ranks: Option<Vec<usize>> = ranks.split(',').map(|word| word.parse().ok()).collect();
        let ranks = ranks.ok_or_else(|| bad("the second argument is no list of ranks"))?;
        let secret = read_line().as_deref().and_then(Secret::from_line);
        let secret = secret
            .ok_or_else(|| bad("no secret came on standard input, which the agent must hand on"))?;
        let task = read_line().ok_or_else(|| bad("no task came on standard input"))?;
        Ok(HostPart { call, ranks, secret, task })
    }

    /// Returns the information for the ranks ([`RankOfHost`]) as lines: the address to call, the secret, and the ranks
    /// of the host. Each fabric puts a line of its own before them.
    pub fn job(&self) -> Vec<u8> {
        let ranks: Vec<String> = self.ranks.iter().map(usize::to_string).collect();
        format!("{}\n{}\n{}\n", self.call, self.secret.to_line(), ranks.join(",")).into_bytes()
    }

    /// Starts the ranks, and returns the status of this process when all have ended. If the run is aborted elsewhere,
    /// or the process that started it is gone, the ranks are ended. With `watch`, the host takes part in the search for
    /// hangs, if `options` has a watch too. `at_end` is called when the ranks have ended, and may pass reports to the
    /// process that started the run.
    ///
    /// # Errors
    /// If that process cannot be called.
    pub fn run(
        &self,
        options: &LaunchOptions,
        watch: Option<HostWatch>,
        at_end: &mut dyn FnMut(Report<'_>),
    ) -> Result<i32> {
        let failed = |reason: String| Error::System {
            what: format!("calling the process that started the run at {}", self.call),
            reason,
        };
        let first = self.ranks.first().copied().unwrap_or_default();
        let caller = Caller { purpose: Purpose::Host, rank: first, wanted: first };
        let control = connect(self.call, caller, &self.secret);
        let control = control.map_err(|error| failed(error.to_string()))?;
        let cloned = || control.try_clone().map_err(|error| failed(error.to_string()));
        let watched = cloned()?;
        let questions = Arc::new(Questions::default());
        let mut options = options.clone();
        if let Some(watch) = watch {
            let questions = Arc::clone(&questions);
            options.whole_run = Some(Arc::new(RunOfHost { watch, questions, control: cloned()? }));
        }
        let has_ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&has_ended);
        std::thread::spawn(move || {
            wait_for_end(&watched, &questions);
            std::thread::sleep(GRACE);
            // The launcher ends its ranks and returns. Relaxed: the flag guards no other memory.
            if !seen.load(Ordering::Relaxed) {
                let _ = kill_process(getpid(), Signal::TERM);
            }
        });
        let ended = launcher::launch(&options, &mut |_| ControlFlow::Continue(()));
        has_ended.store(true, Ordering::Relaxed);
        let (message, status) = self.outcome(ended);
        // If the starter is gone, nobody needs the messages.
        let _ = send(&control, &message);
        at_end(&mut |report| {
            let _ = send(&control, &Message::Report(report.to_vec()));
        });
        Ok(status)
    }

    fn outcome(&self, ended: std::result::Result<(), LaunchError>) -> (Message, i32) {
        match ended {
            Ok(()) => (Message::Ended, 0),
            Err(LaunchError::RankFailed { rank, reason, status }) => {
                let rank = self.ranks.get(rank).copied().unwrap_or_default() as u32;
                (Message::RankFailed { rank, status, how: reason }, i32::from(status))
            }
            Err(ref error @ LaunchError::CannotExecute { is_missing, .. }) => {
                let rank = self.ranks.first().copied().unwrap_or_default() as u32;
                let status = LaunchError::status_of_missing(is_missing);
                let how = format!("did not start: {error}; each host needs the program");
                (Message::RankFailed { rank, status, how }, i32::from(status))
            }
            // Another process has aborted the run, and knows the reason.
            Err(LaunchError::Interrupted { signal }) => (Message::Ended, 128 + signal),
            Err(other) => (Message::Failed { by_another: false, why: other.to_string() }, 1),
        }
    }
}

/// Passes questions on, and returns when the run was aborted, or the process that started it is gone.
fn wait_for_end(control: &TcpStream, questions: &Questions) {
    let mut inbox = Inbox::default();
    loop {
        match inbox.receive(control) {
            Received::Message(Message::GiveUp { .. }) | Received::Closed => return,
            // The launcher in this process answers its user's question.
            Received::Message(Message::ReportRanks) => {
                let _ = kill_process(getpid(), Signal::USR1);
            }
            Received::Message(message) => questions.take(&message),
            Received::Nothing => {}
        }
    }
}

/// Returns the next line of standard input, without its end, and reads no byte more: what follows is for a rank.
fn read_line() -> Option<String> {
    let mut line = Vec::new();
    loop {
        let mut byte = [0];
        match rustix::io::read(rustix::stdio::stdin(), &mut byte) {
            Ok(1) if byte[0] == b'\n' => return String::from_utf8(line).ok(),
            Ok(1) if line.len() < LINE_BYTES_MAX => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            _ => return None,
        }
    }
}
