//! What a receive found, or why it failed.

use std::ffi::c_int;

use contract::{Error, Result, Status};

use super::MpiRank;
use crate::error::message_bytes_in;
use crate::library::{self, ERROR_TRUNCATE, Library, SUCCESS};

impl MpiRank {
    /// The contract's view of a receive that ended with `code`.
    #[inline]
    pub(super) fn received(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        reserved: bool,
        buffer_bytes: usize,
    ) -> Result<Status> {
        if code != SUCCESS {
            return Err(self.receive_error(call, code, status, reserved, buffer_bytes));
        }
        let bytes = bytes_of(&self.library, status, buffer_bytes > i32::MAX as usize)?;
        Ok(self.status(status, reserved, bytes))
    }

    #[inline]
    pub(super) fn status(&self, status: &library::Status, reserved: bool, bytes: usize) -> Status {
        let tag = self.tags.of_mpi(status.tag, reserved);
        Status { source: status.source as usize, tag, bytes }
    }

    #[cold]
    fn receive_error(
        &self,
        call: &'static str,
        code: c_int,
        status: &library::Status,
        reserved: bool,
        buffer_bytes: usize,
    ) -> Error {
        if self.library.class(code) != ERROR_TRUNCATE {
            return self.library.error(call, code);
        }
        // Either the status tells the length of the message, or the MPI's words do.
        let counted =
            bytes_of(&self.library, status, true).ok().filter(|bytes| *bytes > buffer_bytes);
        match counted.or_else(|| message_bytes_in(&self.library.words(code))) {
            Some(message_bytes) => Error::Truncated {
                from: status.source as usize,
                tag: self.tags.of_mpi(status.tag, reserved).value(),
                message_bytes,
                buffer_bytes,
            },
            None => self.library.error(call, code),
        }
    }
}

/// The length of the message that a status is of.
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
