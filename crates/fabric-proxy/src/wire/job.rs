//! The job of a process whose rank is on a simulated machine.

use std::os::fd::RawFd;

use serde::{Deserialize, Serialize};

/// Beginning of such a job. The version of the protocol and the [`Job`] follow.
const MARK: &[u8] = b"cornerstone-proxy-2\n";

/// Version of jobs and messages, which must be equal in the library of a process and in its launcher.
const VERSION: u64 = 8;

/// The launcher's message to the processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Descriptor of the lines' memory.
    pub memory: RawFd,
    /// Factor of measured computing; `None` if processes need not report their computing time.
    pub factor: Option<f64>,
    /// Name of the fabric.
    pub name: String,
}

impl Job {
    /// Returns the job in the form that [`read`](Self::read) reads.
    pub fn bytes(&self) -> Vec<u8> {
        let job = postcard::to_allocvec(&(VERSION, self)).expect("memory has room for a job");
        [MARK, &job].concat()
    }

    /// Reads a job. Returns `None` if it belongs to another fabric.
    pub fn read(bytes: &[u8]) -> Option<Result<Self, String>> {
        let rest = bytes.strip_prefix(MARK)?;
        let (version, rest) = postcard::take_from_bytes(rest).unwrap_or((0, rest));
        if version != VERSION {
            return Some(Err(format!(
                "the MPI library of this program speaks version {VERSION} of the launcher's language, and the launcher \
                 version {version}: let the loader find the library of the launcher's build"
            )));
        }
        let job = postcard::from_bytes::<Job>(rest).ok().filter(|job| job.memory > 2);
        Some(job.ok_or("the launcher gave a damaged job".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_as_it_was_written_and_others_are_told_apart() {
        let job = Job { memory: 7, factor: Some(0.3), name: "sim:a b".into() };
        assert_eq!(Job::read(&job.bytes()), Some(Ok(job.clone())));
        assert_eq!(Job::read(b""), None);
        assert_eq!(Job::read(b"cornerstone-tcp-1\n0123"), None);
        let error = |bytes: &[u8]| Job::read(bytes).unwrap().unwrap_err();
        let mut other = job.bytes();
        other[MARK.len()] += 1;
        assert!(error(&other).contains("the launcher version 9"), "{}", error(&other));
        assert!(error(MARK).contains("version 0"));
        let input = Job { memory: 0, ..job.clone() };
        assert!(error(&input.bytes()).contains("damaged"));
        assert!(error(&job.bytes()[..job.bytes().len() - 1]).contains("damaged"));
    }
}
