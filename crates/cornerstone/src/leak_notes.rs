//! Whether ranks have left MPI objects: a file in memory, in which each rank that has left some adds a byte.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::failure::Failure;

/// Variable that makes our MPI library list what is left.
const CHECK: &str = "CORNERSTONE_CHECK_LEAKS";
/// Variable with the descriptor of the file.
const DESCRIPTOR: &str = "CORNERSTONE_LEAKS";
/// Name of the file, by which the library recognises the descriptor.
const NAME: &str = "cornerstone-leaks";

/// What the process of another host reports if its ranks have left objects.
pub(crate) const LEFT: &[u8] = b"objects were left";

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

    /// Notes that ranks of another host have left objects.
    pub(crate) fn note(&self) -> std::io::Result<()> {
        (&self.0).write_all(&[1])
    }

    /// Returns whether a rank has left objects.
    pub(crate) fn any(&self) -> std::io::Result<bool> {
        Ok(self.0.metadata()?.len() > 0)
    }

    /// Returns how a program ended, which is a failure if it ended well and has left objects.
    pub(crate) fn judge(&self, ended: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
        let status = ended?;
        match self.any() {
            Ok(false) => Ok(status),
            Ok(true) => Err(Failure::failed("--check-leaks found objects that were not freed")
                .hint("the lines above name them for each rank")),
            Err(error) => {
                Err(Failure::failed(format!("reading what --check-leaks found: {error}")))
            }
        }
    }
}
