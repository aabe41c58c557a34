//! Processes that ranks have started and that outlive them, such as the program that a script runs.

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// The most rounds. A process that is ended may leave other processes behind.
const ROUNDS: usize = 1000;

/// Makes this process the parent of all processes that a rank leaves behind. Where the system refuses, none is ended.
pub(crate) fn adopt() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// Ends all processes that have been left behind. The ranks have been waited for, so every child of this process is
/// one.
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

fn children() -> Vec<Pid> {
    let own = getpid();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let number = |name: std::ffi::OsString| Pid::from_raw(name.to_str()?.parse().ok()?);
    let processes = processes.flatten().filter_map(|entry| number(entry.file_name()));
    processes.filter(|&process| parent(process) == Some(own)).collect()
}

/// The parent of a process: the second word after the name, which is in parentheses and may hold any characters
/// (proc_pid_stat(5)).
fn parent(process: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/stat", process.as_raw_nonzero());
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let (_, rest) = text.rsplit_once(')')?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}
