//! Objects that a program has created and not freed when it finalises, reported on request.

use std::cell::Cell;
use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crate::shared::Shared;
use crate::{
    communicator, datatype, errors, file, group, handler, info, operation, point, process, request,
    session, window,
};

/// Set by `cornerstone launch --check-leaks`.
const VARIABLE: &str = "CORNERSTONE_CHECK_LEAKS";

/// Set by the launcher to the descriptor of the file in which ranks with leaks add a byte.
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

/// Prints the leaks, by kind and number, on request, and informs the launcher.
pub(crate) fn report() {
    if setting() == 0 {
        return;
    }
    let left = left();
    if !left.is_empty() {
        let rank = process::rank();
        let left = left.join(", ");
        errors::print_line(&format!("cornerstone: rank {rank}: not freed at MPI_Finalize: {left}"));
        // Without a launcher the line is all.
        let _ = note();
    }
}

/// Adds a byte to the launcher's file.
fn note() -> std::io::Result<()> {
    let Some(number) = std::env::var_os(DESCRIPTOR) else { return Ok(()) };
    let path = Path::new("/proc/self/fd").join(number);
    match path.read_link()? == Path::new(NOTES) {
        true => OpenOptions::new().append(true).open(path)?.write_all(&[1]),
        false => Ok(()),
    }
}

/// Returns the number of objects of each kind that the program has created and not freed.
pub(crate) fn counts() -> [(usize, &'static str); 12] {
    let has_buffer = process::engine_if_any().is_some_and(|one| one.send_buffer().is_attached());
    [
        (request::count(), "request"),
        (window::count(), "window"),
        (file::count(), "file"),
        (communicator::count(), "communicator"),
        (session::count(), "session"),
        (datatype::count(), "datatype"),
        (group::count(), "group"),
        (operation::count(), "operation"),
        (info::count(), "info object"),
        (handler::count(), "error handler"),
        (point::count_messages(), "matched message"),
        (usize::from(has_buffer), "send buffer"),
    ]
}

/// Returns the kinds with remaining objects.
fn left() -> Vec<String> {
    let some = counts().into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, kind)| format!("{count} {kind}{}", if count == 1 { "" } else { "s" }))
        .collect()
}
