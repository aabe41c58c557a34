//! The process of one rank: its start and its end.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::reports::Reports;
use super::{Input, LaunchError, LaunchOptions};
use crate::memory::RunMemory;
use crate::seat::{LIBRARY_PLACE_VARIABLE, PLACE_VARIABLE};
use crate::system::{self, check, signal_name};

/// The process of a rank.
pub(super) struct Process {
    pub(super) rank: usize,
    child: Child,
    /// Readable once the process has ended. `None` on systems without such descriptors.
    end: Option<OwnedFd>,
    pub(super) reports: Reports,
}

impl Process {
    /// Starts rank `rank` of a run.
    pub(super) fn start(
        options: &LaunchOptions,
        memory: &RunMemory,
        rank: usize,
        processors: &[usize],
    ) -> Result<Self, LaunchError> {
        let failed = |what: &str, error: io::Error| LaunchError::System {
            what: format!("{what} rank {rank} of {}", options.ranks),
            reason: explain(&error),
        };
        let (reports, reports_in) =
            io::pipe().map_err(|error| failed("making a pipe for", error))?;
        // A descendant of the rank may hold the other end for any length of time.
        system::do_not_block(reports.as_fd()).map_err(|error| failed("preparing", error))?;
        let mut command = options.command(rank);
        connect(&mut command, options, rank).map_err(|error| failed("preparing", error))?;
        let file = memory.file().as_raw_fd();
        let bells: Vec<RawFd> =
            memory.bells().iter().map(|bell| bell.as_fd().as_raw_fd()).collect();
        let variable = if options.any_program { LIBRARY_PLACE_VARIABLE } else { PLACE_VARIABLE };
        command.env(variable, place_words(rank, file, reports_in.as_raw_fd(), &bells));
        // SAFETY: the descriptor stays open in the child until exec, and in the parent until after `spawn`.
        let file = unsafe { BorrowedFd::borrow_raw(file) };
        // SAFETY: as above.
        let kept = unsafe { BorrowedFd::borrow_raw(reports_in.as_raw_fd()) };
        let (launcher, processors) = (std::process::id(), processors.to_vec());
        let LaunchOptions { any_program, descriptor_limit, .. } = *options;
        // SAFETY: the closure makes system calls only; it allocates nothing and takes no lock.
        unsafe {
            command.pre_exec(move || {
                die_with(launcher)?;
                if !any_program {
                    // A Ctrl-C reaches the whole process group; only the launcher decides on its effect.
                    libc::signal(libc::SIGINT, libc::SIG_IGN);
                }
                system::close_on_exec(file, false)?;
                system::close_on_exec(kept, false)?;
                for &bell in &bells {
                    // SAFETY: as above, because the segment outlives the call.
                    system::close_on_exec(BorrowedFd::borrow_raw(bell), false)?;
                }
                if let Some(limit) = descriptor_limit {
                    // It was granted to this process before; a rank with a higher limit is better than none.
                    let _ = system::limit_descriptors(limit);
                }
                if !processors.is_empty() {
                    // A refused binding is no failure; the rank reports where it runs.
                    let _ = system::bind_to_processors(&processors);
                }
                Ok(())
            });
        }
        let child = command.spawn().map_err(|error| {
            let program = command.get_program().display();
            LaunchError::cannot_execute(&program.to_string(), &error)
                .unwrap_or_else(|| failed(&format!("starting {program} as"), error))
        })?;
        let end = process_descriptor(child.id()).map_err(|error| failed("watching", error))?;
        Ok(Process { rank, child, end, reports: Reports::new(File::from(OwnedFd::from(reports))) })
    }

    /// Kills it if it still runs.
    pub(super) fn kill(&mut self) {
        // An error here means that it has ended.
        let _ = self.child.kill();
    }

    /// Sends it a signal if it still runs.
    pub(super) fn signal(&self, signal: i32) {
        // SAFETY: no memory is involved; the process was not collected yet, so its number was not reused.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    /// Returns whether it has a handler for a signal.
    pub(super) fn handles(&self, signal: i32) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let caught = status
            .unwrap_or_default()
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        caught.is_some_and(|bits| bits & 1 << (signal - 1) != 0)
    }

    /// Returns the descriptor that is readable once the process has ended, if the system has such.
    pub(super) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(OwnedFd::as_fd)
    }

    /// Returns whether the process has ended, without collecting its status.
    pub(super) fn has_ended(&self) -> bool {
        // SAFETY: the system writes into a live structure. The process was not collected yet, so its number was not
        // reused; WNOWAIT leaves its status to be collected.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_PID, self.child.id(), &mut info, options) == 0
                && info.si_pid() != 0
        }
    }

    /// Collects the status of a process that has ended.
    pub(super) fn collect(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

/// Returns the text that passes its place to a rank.
fn place_words(rank: usize, memory: RawFd, reports: RawFd, bells: &[RawFd]) -> String {
    let bells: String = bells.iter().map(|bell| format!(" bell={bell}")).collect();
    format!("rank={rank} memory={memory} reports={reports}{bells}")
}

/// Connects a rank's standard streams.
fn connect(command: &mut Command, options: &LaunchOptions, rank: usize) -> io::Result<()> {
    command.stdin(match &options.input {
        Input::Of(reader) if options.any_program && *reader == rank => Stdio::inherit(),
        Input::Each(files) if options.any_program => files[rank].try_clone()?.into(),
        Input::Of(_) | Input::Empty | Input::Each(_) => Stdio::null(),
    });
    if let Some(streams) = options.streams.get(rank) {
        command.stdout(streams.output.try_clone()?).stderr(streams.error.try_clone()?);
    }
    Ok(())
}

/// Returns a status as shells have it.
pub(super) fn shell_status(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1)
}

/// Describes a status in words.
pub(super) fn describe(status: ExitStatus, part: &str) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by {}", signal_name(signal)),
        (None, Some(code)) => format!("ended with status {code}{part}"),
        (None, None) => format!("ended in an unknown way ({status})"),
    }
}

/// Makes the calling process die with its parent. Called between fork and exec.
fn die_with(launcher: u32) -> io::Result<()> {
    // SAFETY: no memory is involved.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // The parent may have died before the call above.
        if libc::getppid() as u32 != launcher {
            libc::_exit(1);
        }
    }
    Ok(())
}

/// Returns a descriptor that is readable once a process has ended. `None` if the kernel has none (before Linux 5.3), or
/// if a filter of system calls refuses it.
fn process_descriptor(process: u32) -> io::Result<Option<OwnedFd>> {
    // SAFETY: no memory is involved.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, process as libc::pid_t, 0) };
    match check(fd as libc::c_int) {
        // SAFETY: a descriptor that was just returned has no other owner.
        Ok(fd) => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) })),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn explain(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => {
            format!("{error}: the limit of processes is reached (see `ulimit -u`); use fewer ranks")
        }
        Some(libc::EMFILE) => {
            format!("{error}: raise `ulimit -Hn`; a run needs two descriptors for each rank")
        }
        Some(libc::ENOMEM) => format!("{error}: use fewer ranks"),
        _ => error.to_string(),
    }
}
