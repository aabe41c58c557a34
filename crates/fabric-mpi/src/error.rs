//! Conversion of MPI errors to errors of the contract.

use std::ffi::{CStr, c_int};

use contract::{Error, Result};

use crate::library::{ERROR_COUNT, ERROR_TRUNCATE, Library, SUCCESS};

impl Library {
    /// Returns the error for `status` of the call `what`, if it is one.
    #[inline]
    pub(crate) fn check(&self, what: &'static str, status: c_int) -> Result<()> {
        if status == SUCCESS { Ok(()) } else { Err(self.error(what, status)) }
    }

    /// As [`check`](Library::check), for a collective, whose error may be caused by counts of other ranks.
    #[inline]
    pub(crate) fn check_collective(&self, what: &'static str, status: c_int) -> Result<()> {
        if status == SUCCESS { Ok(()) } else { Err(self.collective_error(what, status)) }
    }

    #[cold]
    pub(crate) fn error(&self, what: &'static str, status: c_int) -> Error {
        let reason = self.error_string(status);
        if self.class(status) == self.constants.error_process_died {
            Error::Aborted { why: format!("{what}: {reason}") }
        } else {
            Error::System { what: what.into(), reason }
        }
    }

    #[cold]
    fn collective_error(&self, what: &'static str, status: c_int) -> Error {
        match self.class(status) {
            ERROR_TRUNCATE | ERROR_COUNT => Error::MismatchedCollective {
                explanation: format!("{what}: {}", self.error_string(status)),
            },
            _ => self.error(what, status),
        }
    }

    /// Returns the class of an error.
    pub(crate) fn class(&self, status: c_int) -> c_int {
        let mut class = status;
        // SAFETY: `class` is live; the function may be called at any time.
        unsafe { (self.general.error_class)(status, &mut class) };
        class
    }

    /// Returns the error string of the MPI in one line.
    pub(crate) fn error_string(&self, status: c_int) -> String {
        let mut room = [0u8; 4096];
        let mut length = 0;
        // SAFETY: the room is larger than MPI_MAX_ERROR_STRING of both interfaces (512 and 256).
        unsafe { (self.general.error_string)(status, room.as_mut_ptr().cast(), &mut length) };
        let words = CStr::from_bytes_until_nul(&room).unwrap_or_default().to_string_lossy();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the length of a truncated message from the error string of MPICH and its derivatives, whose statuses contain
/// the length of the buffer instead: "...; 3 bytes received but buffer size is 70000". Some releases swap the two
/// numbers; the message is the longer one.
pub(crate) fn message_bytes_in(error_string: &str) -> Option<usize> {
    let (before, after) = error_string.split_once(" bytes received but buffer size is ")?;
    let one = before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let other = after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some(usize::max(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_cut_message_is_read_from_the_error_string() {
        let words = "rank 1 and tag 3 truncated; 70000 bytes received but buffer size is 3";
        assert_eq!(message_bytes_in(words), Some(70_000));
        let words = "rank 1 and tag 3 truncated; 59 bytes received but buffer size is 60 (x)";
        assert_eq!(message_bytes_in(words), Some(60));
        assert_eq!(message_bytes_in("message truncated"), None);
        assert_eq!(message_bytes_in("many bytes received but buffer size is 3"), None);
    }
}
