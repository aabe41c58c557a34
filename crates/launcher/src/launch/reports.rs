//! Reports of a rank to the launcher through a pipe, each as its length in eight bytes and its bytes.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, RawFd};

/// The launcher's end of a rank's pipe, with the bytes of the next report that have arrived.
pub(super) struct Reports {
    pipe: File,
    /// True if the rank may still write.
    open: bool,
    pending: Vec<u8>,
}

impl Reports {
    pub(super) fn new(pipe: File) -> Self {
        Reports { pipe, open: true, pending: Vec::new() }
    }

    /// Returns the descriptor to poll, or -1, which polls ignore, after the rank has closed its end.
    pub(super) fn descriptor(&self) -> RawFd {
        if self.open { self.pipe.as_raw_fd() } else { -1 }
    }

    /// Reads once, and passes on each complete report. Returns false if nothing more is there, now or ever.
    pub(super) fn read(&mut self, on_report: &mut dyn FnMut(&[u8])) -> bool {
        let mut room = [0; 65536];
        match self.pipe.read(&mut room) {
            Ok(0) => {
                self.open = false;
                false
            }
            Ok(bytes) => {
                self.pending.extend_from_slice(&room[..bytes]);
                self.hand_on(on_report);
                true
            }
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
        }
    }

    fn hand_on(&mut self, on_report: &mut dyn FnMut(&[u8])) {
        let mut used = 0;
        while let Some((length, rest)) = self.pending[used..].split_first_chunk::<8>() {
            let length = u64::from_le_bytes(*length) as usize;
            let Some(report) = rest.get(..length) else { break };
            on_report(report);
            used += 8 + length;
        }
        self.pending.drain(..used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reports_arrive_whole_however_the_pipe_splits_them() {
        let (output, mut input) = io::pipe().unwrap();
        let output = std::os::fd::OwnedFd::from(output);
        let mut reports = Reports::new(File::from(output));
        let mut stream = Vec::new();
        for report in [&b"first"[..], b"", &[7; 3000]] {
            stream.extend_from_slice(&(report.len() as u64).to_le_bytes());
            stream.extend_from_slice(report);
        }
        let mut seen: Vec<Vec<u8>> = Vec::new();
        for part in stream.chunks(11) {
            input.write_all(part).unwrap();
            assert!(reports.read(&mut |report| seen.push(report.to_vec())));
        }
        drop(input);
        assert!(!reports.read(&mut |_| panic!("nothing is left")));
        assert_eq!(seen, [b"first".to_vec(), vec![], vec![7; 3000]]);
    }
}
