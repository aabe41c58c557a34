//! What MPI objects ranks have left: a file in memory, to which each rank that has left some adds a line.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::call_sites::CallSites;
use crate::failure::Failure;

/// Variable that makes our MPI library list what is left.
const CHECK: &str = "CORNERSTONE_CHECK_LEAKS";
/// Variable with the descriptor of the file.
const DESCRIPTOR: &str = "CORNERSTONE_LEAKS";
/// Name of the file, by which the library recognises the descriptor.
const NAME: &str = "cornerstone-leaks";

/// Beginning of what the process of another host reports if its ranks have left objects. Their lines follow.
pub(crate) const LEFT: &[u8] = b"objects were left\n";

/// The file of the ranks of a host.
pub(crate) struct LeakNotes(File);

impl LeakNotes {
    /// Creates the file. Ranks that this process starts inherit it.
    pub(crate) fn new() -> Result<Self, Failure> {
        let file = memfd_create(NAME, MemfdFlags::empty());
        let file = file.map_err(|error| {
            Failure::failed(format!("making the memory for --check-leaks: {error}"))
        })?;
        Ok(LeakNotes(File::from(file)))
    }

    /// Returns the variables that the ranks' environment needs.
    pub(crate) fn environment(&self) -> [(OsString, OsString); 2] {
        let descriptor = self.0.as_raw_fd().to_string();
        [(CHECK.into(), "1".into()), (DESCRIPTOR.into(), descriptor.into())]
    }

    /// Notes the lines of ranks of another host.
    pub(crate) fn note(&self, lines: &[u8]) -> std::io::Result<()> {
        (&self.0).write_all(lines)
    }

    /// Returns what ranks have noted, with the functions and lines of the program.
    pub(crate) fn lines(&self) -> std::io::Result<String> {
        let bytes = self.0.metadata()?.len() as usize;
        let mut all = vec![0; bytes];
        self.0.read_exact_at(&mut all, 0)?;
        Ok(CallSites::default().name_places(&String::from_utf8_lossy(&all)))
    }

    /// Tells what was left, and returns how a program ended, which is a failure if it ended well and has left objects.
    pub(crate) fn judge(&self, ended: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
        let lines = self
            .lines()
            .map_err(|error| Failure::failed(format!("reading what --check-leaks found: {error}")));
        if let Ok(lines) = &lines {
            // A closed standard error does not change the outcome.
            let _ = std::io::stderr().write_all(lines.as_bytes());
        }
        let status = ended?;
        match lines?.is_empty() {
            true => Ok(status),
            false => Err(Failure::failed("--check-leaks found objects that were not freed")
                .hint("the lines above name them for each rank")),
        }
    }
}
