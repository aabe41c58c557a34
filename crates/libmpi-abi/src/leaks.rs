//! Objects that a program has created and not freed when it finalises, reported on request.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use call_stack::CallSite;

use crate::shared::Shared;
use crate::{
    communicator, datatype, errors, file, group, handler, info, operation, point, process, request,
    session, window,
};

/// Number of calls that a line names for each kind.
const PLACES_MAX: usize = 3;

/// Set by `cornerstone launch --check-leaks`.
const VARIABLE: &str = "CORNERSTONE_CHECK_LEAKS";

/// Set by the launcher to the descriptor of the file to which ranks with leaks add a line.
const DESCRIPTOR: &str = "CORNERSTONE_LEAKS";
/// That descriptor, as the system shows it. The program may have closed it, and opened a file of its own in its place.
const NOTES: &str = "/memfd:cornerstone-leaks (deleted)";

/// Setting of a tool, if it has made one.
static CHOICE: Shared<Cell<Option<c_int>>> = Shared::new(|| Cell::new(None));

/// Returns whether leaks are reported: nonzero if they are.
pub(crate) fn setting() -> c_int {
    let asked = || std::env::var_os(VARIABLE).is_some_and(|value| value != "0");
    CHOICE.get().unwrap_or_else(|| c_int::from(asked()))
}

/// Sets whether leaks are reported, which overrides the launcher's option.
pub(crate) fn set(value: c_int) {
    CHOICE.set(Some(value));
}

/// Tells the leaks, by kind, number and the calls that have made them, on request: the launcher, or without one the user.
pub(crate) fn report() {
    if setting() == 0 {
        return;
    }
    let left: Vec<String> = makers().iter().filter_map(in_words).collect();
    if !left.is_empty() {
        let rank = process::rank();
        let line =
            format!("cornerstone: rank {rank}: not freed at MPI_Finalize: {}", left.join(", "));
        if !note(&line).unwrap_or(false) {
            errors::print_line(&line);
        }
    }
}

/// Adds a line to the launcher's file. Returns false if there is none.
fn note(line: &str) -> std::io::Result<bool> {
    let Some(number) = std::env::var_os(DESCRIPTOR) else { return Ok(false) };
    let path = Path::new("/proc/self/fd").join(number);
    if path.read_link()? != Path::new(NOTES) {
        return Ok(false);
    }
    OpenOptions::new().append(true).open(path)?.write_all(format!("{line}\n").as_bytes())?;
    Ok(true)
}

/// Returns the calls that have made the objects of each kind that the program has not freed.
fn makers() -> [(Vec<CallSite>, &'static str); 12] {
    let has_buffer = process::engine_if_any().is_some_and(|one| one.send_buffer().is_attached());
    let buffers = if has_buffer { vec![CallSite::default()] } else { Vec::new() };
    [
        (request::makers(), "request"),
        (window::makers(), "window"),
        (file::makers(), "file"),
        (communicator::makers(), "communicator"),
        (session::makers(), "session"),
        (datatype::makers(), "datatype"),
        (group::makers(), "group"),
        (operation::makers(), "operation"),
        (info::makers(), "info object"),
        (handler::makers(), "error handler"),
        (point::makers_of_messages(), "matched message"),
        (buffers, "send buffer"),
    ]
}

/// Returns the number of objects of each kind that the program has created and not freed.
pub(crate) fn counts() -> [(usize, &'static str); 12] {
    makers().map(|(makers, kind)| (makers.len(), kind))
}

/// Returns words for the objects of a kind, if there are any, with the first different calls that have made them.
fn in_words((makers, kind): &(Vec<CallSite>, &str)) -> Option<String> {
    let count = makers.len();
    let mut seen = HashSet::new();
    let sites = makers.iter().filter(|&site| seen.insert(site));
    let places: Vec<String> =
        sites.map(ToString::to_string).filter(|place| !place.is_empty()).take(PLACES_MAX).collect();
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} {kind}{plural}{}", places.concat()))
}
