//! Processes that ranks have started and that outlive them, such as the program that a script runs.

use std::ffi::CStr;

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use rustix::thread::set_name;

/// Maximum number of rounds. A process that is killed may leave other processes behind.
const ROUNDS: usize = 1000;

/// Makes this process the parent of all processes that a rank leaves behind. If the system refuses, none is killed.
pub(crate) fn adopt() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Process name of a launcher that a rank has started. A launcher that has ended keeps it.
const LAUNCHER_NAME: &CStr = c"cornerstone-run";

/// Marks this process as a launcher, for the launcher above it, which waits for it.
pub(crate) fn be_known_as_launcher() {
    // If the system refuses, the launcher above does not wait for this process.
    let _ = set_name(LAUNCHER_NAME);
}

/// Waits for the launchers that ranks have started, including those started by their ranks. Returns the status of the
/// first that failed, or 0.
pub(crate) fn wait_for_launchers() -> u8 {
    let name = LAUNCHER_NAME.to_string_lossy();
    let mut failed = 0;
    while let Some(launcher) =
        children().into_iter().find(|&one| name_of(one) == Some(name.to_string()))
    {
        match waitpid(Some(launcher), WaitOptions::empty()) {
            Ok(Some((_, status))) if failed == 0 => {
                let signal = || status.terminating_signal().map(|signal| 128 + signal);
                let number = status.exit_status().or_else(signal);
                failed = number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1);
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    failed
}

/// Kills all processes that ranks have left behind. The ranks have been waited for, so every child of this process is
/// such a process.
pub(crate) fn end() {
    for _ in 0..ROUNDS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            // An error means that it has already ended.
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
        }
    }
}

pub(crate) fn children() -> Vec<Pid> {
    let own = getpid();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let number = |name: std::ffi::OsString| Pid::from_raw(name.to_str()?.parse().ok()?);
    let processes = processes.flatten().filter_map(|entry| number(entry.file_name()));
    processes.filter(|&process| parent(process) == Some(own)).collect()
}

/// Returns the name of a process: the part in parentheses.
fn name_of(process: Pid) -> Option<String> {
    let text = status_of(process)?;
    Some(text.split_once('(')?.1.rsplit_once(')')?.0.to_owned())
}

fn status_of(process: Pid) -> Option<String> {
    let path = format!("/proc/{}/stat", process.as_raw_nonzero());
    Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned())
}

/// Returns the parent of a process: the second word after the name. The name is in parentheses and may hold any
/// characters (proc_pid_stat(5)).
fn parent(process: Pid) -> Option<Pid> {
    let text = status_of(process)?;
    let (_, rest) = text.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}
