//! A run that a rank of another run starts with MPI_Comm_spawn. The rank sends the command through standard input. It
//! has detached this process, so the launcher of that rank is its parent.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::{PARENT_PORT, execute};
use crate::arguments::{LaunchArguments, read_launch};
use crate::failure::Failure;
use crate::orphans;

/// Word of the command line that makes this program such a launcher.
pub(crate) const WORD: &str = "spawned";

/// Starts the requested programs, and returns when all their ranks have ended. While the rank waits for them, failures
/// are reported to it alone.
pub(crate) fn run() -> ExitCode {
    let started = take_input().map_err(|error| {
        Failure::failed(format!("this command is for ranks that start others: {error}"))
    });
    let ended = started.and_then(|mut stream| {
        let ended = read(&mut stream).and_then(|(first, others)| execute(first, &others));
        ended.or_else(|failure| match report(&mut stream, &failure) {
            true => Ok(ExitCode::SUCCESS),
            false => Err(failure),
        })
    });
    ended.unwrap_or_else(|failure| failure.report())
}

/// Takes the connection to the rank from standard input, so that the new ranks do not inherit it there.
fn take_input() -> io::Result<UnixStream> {
    let stream: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(UnixStream::from(stream))
}

/// Reports to the rank the reason why there are no new processes. Returns false if the rank has connected to them and
/// no longer waits.
fn report(stream: &mut UnixStream, failure: &Failure) -> bool {
    let reported = stream.write_all(&[failure.message().as_bytes(), &[0]].concat());
    let mut has_met = Vec::new();
    // The rank answers if it has connected, and otherwise closes its end. A rank that has disappeared waits for
    // nothing.
    reported.is_ok() && stream.read_to_end(&mut has_met).is_ok() && has_met.is_empty()
}

/// Reads the programs to start. The rank has detached this process by the time that it has sent them.
fn read(stream: &mut UnixStream) -> Result<(LaunchArguments, Vec<LaunchArguments>), Failure> {
    let failed = |error: io::Error| Failure::failed(format!("hearing what to start: {error}"));
    let mut length = [0; 8];
    stream.read_exact(&mut length).map_err(failed)?;
    let mut said = Vec::new();
    stream.take(u64::from_le_bytes(length)).read_to_end(&mut said).map_err(failed)?;
    orphans::be_known_as_launcher();
    // If the launcher above dies, this process receives the signal with which a user would end it.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let mut launches = launches(&said)?.into_iter();
    let wrong = || Failure::usage("no program to start");
    Ok((launches.next().ok_or_else(wrong)?, launches.collect()))
}

/// Returns the arguments of `launch` for each program.
fn launches(said: &[u8]) -> Result<Vec<LaunchArguments>, Failure> {
    let words = said.strip_suffix(&[0]).unwrap_or_default();
    let mut words = words.split(|&byte| byte == 0).map(|word| OsString::from_vec(word.to_vec()));
    let wrong = || Failure::usage("a rank that starts others speaks of another version");
    let (fabric, port) = (words.next().ok_or_else(wrong)?, words.next().ok_or_else(wrong)?);
    let mut launches = Vec::new();
    while let Some(ranks) = words.next() {
        let mut line: Vec<OsString> = vec!["-n".into(), ranks, "--fabric".into(), fabric.clone()];
        let mut parent = OsString::from(PARENT_PORT);
        parent.push("=");
        parent.push(&port);
        line.extend(["--env".into(), parent]);
        let folder = words.next().ok_or_else(wrong)?;
        if !folder.is_empty() {
            line.extend(["--wdir".into(), folder]);
        }
        let count = words.next().ok_or_else(wrong)?;
        let count = count.to_str().and_then(|count| count.parse::<usize>().ok());
        line.push(OsStr::new("--").into());
        let before = line.len();
        line.extend(words.by_ref().take(1 + count.ok_or_else(wrong)?));
        if line.len() == before {
            return Err(wrong());
        }
        launches.push(read_launch(line)?);
    }
    Ok(launches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_asks_for_becomes_launches_whatever_the_arguments_are() {
        let said = b"tcp\0port:1\x002\0/tmp\x003\0/bin/one\0-n\0:\0\x001\0\0\x30\0two\0";
        let launches = launches(said).unwrap();
        let programs: Vec<Vec<OsString>> = launches.iter().map(|one| one.program.clone()).collect();
        assert_eq!(programs, [vec!["/bin/one", "-n", ":", ""], vec!["two"]]);
        assert_eq!((launches[0].ranks, launches[1].ranks), (2, 1));
        assert_eq!(launches[0].directory.as_deref(), Some(std::path::Path::new("/tmp")));
        assert_eq!(launches[1].directory, None);
        assert_eq!(launches[1].variables[0].value, "port:1");
        assert_eq!(launches[0].fabric().to_string(), "tcp");
        for bad in [&b""[..], b"tcp\0", b"tcp\0port\x002\0", b"tcp\0port\x002\0\0x\0p\0"] {
            assert!(super::launches(bad).is_err() || super::launches(bad).unwrap().is_empty());
        }
    }
}
