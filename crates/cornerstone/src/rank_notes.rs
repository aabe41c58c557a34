//! What ranks say when they leave the run: a file in memory, to which they add lines. It has the objects that were not freed,
//! and errors of calls after MPI_Finalize, which no longer end the run.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::call_sites::CallSites;
use crate::failure::Failure;
use crate::mistakes::{Mistake, Mistakes, kind_of};

/// Variable that makes our MPI library list what is left.
const CHECK: &str = "CORNERSTONE_CHECK_LEAKS";
/// Variable with the descriptor of the file.
const DESCRIPTOR: &str = "CORNERSTONE_NOTES";
/// Name of the file, by which the library recognises the descriptor.
const NAME: &str = "cornerstone-notes";

/// Beginning of what the process of another host reports of the notes of its ranks. They follow.
pub(crate) const NOTES: &[u8] = b"notes of ranks\n";

/// Beginning of each line, which is followed by the rank. A rank without a launcher prints it.
const LINE: &str = "cornerstone: rank ";
/// The same of an error.
const ERROR: &str = "cornerstone: error: rank ";

/// The file of the ranks of a host.
pub(crate) struct RankNotes {
    file: File,
    leaks: bool,
}

impl RankNotes {
    /// Creates the file. Ranks that this process starts inherit it, and list what they have not freed if asked to.
    pub(crate) fn new(leaks: bool) -> Result<Self, Failure> {
        let file = memfd_create(NAME, MemfdFlags::empty());
        let file = file.map_err(|error| {
            let error = launcher::system::refused("memfd_create", error.into());
            Failure::failed(format!("making the memory for notes of the ranks: {error}"))
        })?;
        Ok(RankNotes { file: File::from(file), leaks })
    }

    /// Returns the variables that the ranks' environment needs.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let descriptor = self.file.as_raw_fd().to_string();
        let check = self.leaks.then(|| (CHECK.into(), "1".into()));
        [(DESCRIPTOR.into(), descriptor.into())].into_iter().chain(check).collect()
    }

    /// Notes the lines of ranks of another host.
    pub(crate) fn note(&self, lines: &[u8]) -> io::Result<()> {
        (&self.file).write_all(lines)
    }

    /// Returns the lines of the ranks.
    pub(crate) fn lines(&self) -> io::Result<Vec<u8>> {
        let bytes = self.file.metadata()?.len() as usize;
        let mut all = vec![0; bytes];
        self.file.read_exact_at(&mut all, 0)?;
        Ok(all)
    }

    /// Adds what ranks have noted to the mistakes of the run, with the functions and lines of the program.
    pub(crate) fn report(&self, mistakes: &mut Mistakes) -> io::Result<()> {
        let mut sites = CallSites::default();
        for line in String::from_utf8_lossy(&self.lines()?).lines() {
            let begin = [LINE, ERROR].into_iter().find_map(|begin| line.strip_prefix(begin));
            let noted = begin.and_then(|line| line.split_once(": "));
            let noted = noted.and_then(|(rank, what)| Some((rank.parse().ok()?, what)));
            if let Some((rank, what)) = noted {
                mistakes.add_noted(Mistake::reported(kind_of(what), rank, sites.name_places(what)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_list_what_is_left_only_if_they_are_asked_to() {
        let names = |leaks| {
            let variables = RankNotes::new(leaks).unwrap().environment();
            variables.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(false), [DESCRIPTOR]);
        assert_eq!(names(true), [DESCRIPTOR, CHECK]);
    }

    #[test]
    fn lines_of_all_hosts_are_one_after_the_other() {
        let notes = RankNotes::new(true).unwrap();
        notes.note(b"one\n").unwrap();
        notes.note(b"two\n").unwrap();
        assert_eq!(notes.lines().unwrap(), b"one\ntwo\n");
    }
}
