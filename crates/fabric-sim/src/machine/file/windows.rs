//! Reads the costs of accesses to memory of other ranks from a file.

use definition_files::FileError;

use super::place::Place;
use super::schema::{FileAccessPath, FilePiece, FileWindows};
use crate::machine::{AccessPath, Windows};

pub(super) fn windows(place: &Place<'_>, file: &FileWindows) -> Result<Windows, FileError> {
    let costs = |key: &str, line, pieces: &[FilePiece]| {
        place.pieces(&format!("windows.{key}"), line, pieces)
    };
    let path = match file.path {
        FileAccessPath::Network => AccessPath::Network,
        FileAccessPath::Processor => AccessPath::Processor,
    };
    if path == AccessPath::Processor {
        for (key, is_given) in [
            ("target_us", file.target_us.is_some()),
            ("target_ns_per_byte", file.target_ns_per_byte.is_some()),
            ("target_update_us", file.target_update_us.is_some()),
            ("target_update_ns_per_byte", file.target_update_ns_per_byte.is_some()),
            ("request_bytes", file.request_bytes > 0),
            ("answer_bytes", file.answer_bytes > 0),
        ] {
            if is_given {
                let why = "belongs to the path \"network\": the origin's processor does all of an access by the path \"processor\"";
                return Err(place.refuse(&format!("windows.{key}"), why));
            }
        }
    }
    let (target, target_update) = (
        (file.target_us, file.target_ns_per_byte),
        (file.target_update_us, file.target_update_ns_per_byte),
    );
    Ok(Windows {
        path,
        put: costs("put", (file.put_us, file.put_ns_per_byte), &file.put)?,
        get: costs("get", (file.get_us, file.get_ns_per_byte), &file.get)?,
        update: costs("update", (file.update_us, file.update_ns_per_byte), &file.update)?,
        target: costs("target", target, &[])?,
        target_update: costs("target_update", target_update, &[])?,
        done: place.span("windows.done_us", file.done_us)?,
        see: place.span("windows.see_us", file.see_us)?,
        request_bytes: file.request_bytes.into(),
        answer_bytes: file.answer_bytes.into(),
    })
}
