//! The beginning of a line on standard error, where a program may have left the last line of its output without an end.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::{FileType, fstat};
use rustix::termios::{isatty, tcgetwinsize};

/// Returns what must be written before words that begin a line. Empty if output and errors do not go to the same place.
pub(crate) fn beginning() -> String {
    let (output, errors) = (rustix::stdio::stdout(), rustix::stdio::stderr());
    let (Ok(output), Ok(kind)) = (fstat(output), fstat(errors)) else { return String::new() };
    if (output.st_dev, output.st_ino) != (kind.st_dev, kind.st_ino) {
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
