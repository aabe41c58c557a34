//! Writing to standard output, which may be full or closed.

use std::io::{ErrorKind, Write};

use crate::failure::Failure;

/// Writes `text` to standard output at once. It may quote files, which may come from a stranger.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(record::printable(text).as_bytes()).and_then(|()| stdout.flush()).map_err(
        |error| {
            if error.kind() == ErrorKind::BrokenPipe {
                Failure::closed_pipe()
            } else {
                Failure::failed(format!("cannot write to standard output: {error}"))
            }
        },
    )
}
