//! Objects that a program has created and not freed when it finalises, reported on request.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::c_int;

use call_stack::CallSite;

use crate::shared::Shared;
use crate::{
    communicator, datatype, file, group, handler, info, notes, operation, point, process, request,
    session, window,
};

/// Number of calls that a line names for each kind.
const PLACES_MAX: usize = 3;

/// Set by `cornerstone launch --check-leaks`.
const VARIABLE: &str = "CORNERSTONE_CHECK_LEAKS";

/// Setting of a tool, if it has made one.
static CHOICE: Shared<Cell<Option<c_int>>> = Shared::new(|| Cell::new(None));

/// Returns whether leaks are reported: nonzero if they are.
pub(crate) fn setting() -> c_int {
    let requested = || std::env::var_os(VARIABLE).is_some_and(|value| value != "0");
    CHOICE.get().unwrap_or_else(|| c_int::from(requested()))
}

/// Sets whether leaks are reported, which overrides the launcher's option.
pub(crate) fn set(value: c_int) {
    CHOICE.set(Some(value));
}

/// Tells the leaks, a line for each kind of object with the number and the calls that have made them, on request: the
/// launcher, or without one the user.
pub(crate) fn report() {
    if setting() == 0 {
        return;
    }
    let rank = process::rank();
    for left in makers().iter().filter_map(in_words) {
        let line = format!("cornerstone: rank {rank}: not freed at MPI_Finalize: {left}");
        notes::report(&line);
    }
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
