//! What a program has made and not freed by the time it finalizes, told on request.

use crate::{
    communicator, datatype, file, group, handler, info, operation, point, process, request, window,
};

/// Set by `cornerstone launch --check-leaks`.
const VARIABLE: &str = "CORNERSTONE_CHECK_LEAKS";

/// Prints what is left, by kind and number, if the launcher was asked for it.
pub(crate) fn report() {
    if std::env::var_os(VARIABLE).is_none_or(|value| value == "0") {
        return;
    }
    let left = left();
    if !left.is_empty() {
        let rank = process::rank();
        eprintln!("cornerstone: rank {rank}: not freed at MPI_Finalize: {}", left.join(", "));
    }
}

/// The kinds of which something is left.
fn left() -> Vec<String> {
    let has_buffer = process::engine_if_any().is_some_and(|one| one.send_buffer().is_attached());
    let counts = [
        (request::count(), "request"),
        (window::count(), "window"),
        (file::count(), "file"),
        (communicator::count(), "communicator"),
        (datatype::count(), "datatype"),
        (group::count(), "group"),
        (operation::count(), "operation"),
        (info::count(), "info object"),
        (handler::count(), "error handler"),
        (point::count_messages(), "matched message"),
        (usize::from(has_buffer), "send buffer"),
    ];
    let some = counts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, kind)| format!("{count} {kind}{}", if count == 1 { "" } else { "s" }))
        .collect()
}
