//! Outcome of a receive.

use std::ffi::c_int;

use contract::{Envelope, Error, Result};

use super::MpiEndpoint;
use crate::error::message_bytes_in;
use crate::library::{self, ERROR_TRUNCATE, Library, SUCCESS};

impl MpiEndpoint {
    /// Returns the envelope of a receive in `context` with `room` bytes that ended with `code`. The error of a message
    /// that does not fit contains its length if the MPI provides it.
    #[inline]
    pub(super) fn received(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        context: u32,
        room: usize,
    ) -> Result<Envelope> {
        let bytes = match code {
            SUCCESS => bytes_of(&self.library, status, room > i32::MAX as usize)?,
            _ => self.bytes_of_truncated(call, code, status, room)?,
        };
        self.envelope_of(status, context, bytes, room)
    }

    #[inline]
    pub(super) fn envelope_of(
        &self,
        status: &library::Status,
        context: u32,
        bytes: usize,
        room: usize,
    ) -> Result<Envelope> {
        let source = self.contexts.of_messages(context)?.run_rank(status.source);
        Ok(Envelope { context, source, tag: self.tags.of_mpi(context, status.tag), bytes, room })
    }

    /// Returns the length of a message that did not fit, or the error.
    #[cold]
    fn bytes_of_truncated(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        room: usize,
    ) -> Result<usize> {
        let error = || -> Error { self.library.error(call, code) };
        if self.library.class(code) != ERROR_TRUNCATE {
            return Err(error());
        }
        // Either the status or the error string of the MPI contains the length of the message.
        let counted = bytes_of(&self.library, status, true).ok().filter(|bytes| *bytes > room);
        let length = counted.or_else(|| message_bytes_in(&self.library.error_string(code)));
        length.filter(|bytes| *bytes > room).ok_or_else(error)
    }
}

/// Returns the length of the message of a status.
#[inline]
pub(super) fn bytes_of(
    library: &Library,
    status: &library::Status,
    may_be_long: bool,
) -> Result<usize> {
    let byte = library.constants.byte;
    if may_be_long && let Some(long) = &library.long {
        let mut count = 0i64;
        // SAFETY: `status` was set by a receive or a probe; both places are live.
        let code = unsafe { (long.count_of)(status, byte, &mut count) };
        return library.check("MPI_Get_count_c", code).map(|()| count as usize);
    }
    let mut count = 0;
    // SAFETY: as above.
    let code = unsafe { (library.short.count_of)(status, byte, &mut count) };
    library.check("MPI_Get_count", code).map(|()| count as usize)
}
