//! Reports of a rank to the launcher through a pipe.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use contract::{Error, Result};

/// A rank's connection to the launcher, separate from the rank itself.
///
/// It is not `Send`: two threads would interleave the bytes of their reports.
#[derive(Clone)]
pub struct Reporter(Rc<File>);

impl Reporter {
    pub(super) fn new(pipe: OwnedFd) -> Self {
        Reporter(Rc::new(File::from(pipe)))
    }

    /// Passes `bytes` to the launcher as one report. Reports arrive in the order of this rank's calls.
    ///
    /// # Errors
    /// [`Error::System`] if the launcher no longer reads.
    pub fn report(&self, bytes: &[u8]) -> Result<()> {
        let length = (bytes.len() as u64).to_le_bytes();
        let mut pipe = &*self.0;
        let sent = pipe.write_all(&length).and_then(|()| pipe.write_all(bytes));
        sent.map_err(|error| Error::System {
            what: "handing a report to the launcher".into(),
            reason: error.to_string(),
        })
    }
}
