//! Runs whose output is captured.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use super::{LaunchError, LaunchOptions, Streams, launch};

/// Serialises launches: a process has one set of signal handlers.
static LAUNCHES: Mutex<()> = Mutex::new(());

/// Runs a program as [`launch`] does. Returns the outcome of the run, and what its ranks wrote to standard output and
/// standard error in the order in which it arrived. Calls from several threads wait for each other. Reports are
/// dropped.
pub fn launch_and_read(mut options: LaunchOptions) -> (Result<(), LaunchError>, Vec<u8>) {
    let _alone = LAUNCHES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut written = Vec::new();
    let (mut output, input) = match std::io::pipe() {
        Ok(ends) => ends,
        Err(error) => return (Err(unreadable(&error)), written),
    };
    let input = Arc::new(File::from(OwnedFd::from(input)));
    let streams = Streams { output: input.clone(), error: input };
    options.streams = vec![streams; options.ranks];
    let (ended, read) = std::thread::scope(|scope| {
        let reader = scope.spawn(|| output.read_to_end(&mut written));
        let ended = launch(&options, &mut |_| ControlFlow::Continue(()));
        // The reader reaches the end once nobody holds the other end any more.
        drop(options);
        (ended, reader.join().expect("reading does not panic"))
    });
    (ended.and(read.map(drop).map_err(|error| unreadable(&error))), written)
}

fn unreadable(error: &std::io::Error) -> LaunchError {
    LaunchError::System { what: "reading what the ranks write".into(), reason: error.to_string() }
}
