//! Lines of a process that leaves the run: the launcher prints them with the places of their calls.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Set by the launcher to the descriptor of the file to which ranks add lines.
const DESCRIPTOR: &str = "CORNERSTONE_NOTES";
/// That descriptor, as the system shows it. The program may have closed it, and opened a file of its own in its place.
const FILE: &str = "/memfd:cornerstone-notes (deleted)";

/// Gives a line to the launcher, or prints it if there is none.
pub(crate) fn report(line: &str) {
    if !note(line).unwrap_or(false) {
        print_line(line);
    }
}

/// Adds a line to the launcher's file. Returns false if there is none.
fn note(line: &str) -> std::io::Result<bool> {
    let Some(number) = std::env::var_os(DESCRIPTOR) else { return Ok(false) };
    let path = Path::new("/proc/self/fd").join(number);
    if path.read_link()? != Path::new(FILE) {
        return Ok(false);
    }
    OpenOptions::new().append(true).open(path)?.write_all(format!("{line}\n").as_bytes())?;
    Ok(true)
}

/// Prints a line to standard error in one write, because the lines of ranks that write at the same time would otherwise
/// be mixed.
fn print_line(words: &str) {
    let _ = std::io::stderr().write_all(format!("{words}\n").as_bytes());
}
