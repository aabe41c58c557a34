//! The beginning of a line on standard error, where a program may have left the last line of its output without an end.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Once;

use rustix::fs::{FileType, fstat};
use rustix::termios::{isatty, tcgetwinsize};

use crate::streams::is_same;

/// Begins a line on standard error after a program has ended, once: from then on only this process writes there.
pub(crate) fn begin() {
    static BEGUN: Once = Once::new();
    // A closed standard error does not change the outcome.
    BEGUN.call_once(|| {
        let _ = std::io::stderr().write_all(beginning().as_bytes());
    });
}

/// Returns what must be written before words that begin a line. Empty if output and errors do not go to the same place.
fn beginning() -> String {
    let errors = rustix::stdio::stderr();
    let Ok(kind) = fstat(errors) else { return String::new() };
    if !is_same(&rustix::stdio::stdout(), &errors) {
        return String::new();
    }
    match FileType::from_raw_mode(kind.st_mode) {
        FileType::RegularFile => if ends_in_line() { "\n" } else { "" }.into(),
        _ if isatty(errors) => {
            let columns = tcgetwinsize(errors).map_or(0, |size| size.ws_col);
            of_terminal(columns.into())
        }
        FileType::Fifo | FileType::Socket => "\n".into(),
        // Nobody reads what goes to another device, such as /dev/null.
        _ => String::new(),
    }
}

/// Returns what takes a terminal of some columns to the beginning of a line: blanks that reach the next line unless they began at
/// the first column, and a return to the beginning of the line that they have reached.
fn of_terminal(columns: usize) -> String {
    match columns {
        0 => "\n".into(),
        _ => format!("{}\r", " ".repeat(columns - 1)),
    }
}

/// Returns whether the file of standard error ends inside of a line.
fn ends_in_line() -> bool {
    let last = || -> std::io::Result<u8> {
        // The descriptor itself may be for writing only.
        let file = File::open("/proc/self/fd/2")?;
        let mut last = [0];
        file.read_exact_at(&mut last, file.metadata()?.size().saturating_sub(1))?;
        Ok(last[0])
    };
    last().is_ok_and(|last| last != b'\n')
}
