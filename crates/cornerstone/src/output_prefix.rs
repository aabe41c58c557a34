//! Prefixes each line that a program writes with its rank.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;

use launcher::Streams;

/// Creates the pipes of rank `rank`. Threads print the lines from them with the rank before each. They end once no
/// process holds the other ends.
pub(crate) fn prefixed(rank: usize, readers: &mut Vec<JoinHandle<()>>) -> std::io::Result<Streams> {
    let (output, output_in) = std::io::pipe()?;
    let (error, error_in) = std::io::pipe()?;
    readers.push(std::thread::spawn(move || copy_lines(rank, output, std::io::stdout)));
    readers.push(std::thread::spawn(move || copy_lines(rank, error, std::io::stderr)));
    let file = |pipe| Arc::new(File::from(OwnedFd::from(pipe)));
    Ok(Streams { output: file(output_in), error: file(error_in) })
}

/// Copies lines, each with one write, so the lines of several ranks never mix.
fn copy_lines<W: Write>(rank: usize, from: PipeReader, to: impl Fn() -> W) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(format!("[{rank}] ").as_bytes());
        let start = line.len();
        match from.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        debug_assert!(line.len() > start);
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let mut to = to();
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
