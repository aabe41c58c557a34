//! MPI_Status in the layout of the ABI, and its queries.

use std::ffi::c_int;

use mpi::{Error, Peer};

use crate::abi::*;
use crate::arguments::IntOrCountMut;
use crate::datatype;
use crate::failure::{Result, code_of, error_of};

/// MPI_Status of C: three public words, and five of the library.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
    cancelled: c_int,
    bytes: [c_int; 2],
    unused: [c_int; 2],
}

impl From<mpi::Status> for Status {
    #[inline(always)]
    fn from(found: mpi::Status) -> Self {
        let source = match found.source {
            Peer::Rank(rank) => rank as c_int,
            Peer::Any => ANY_SOURCE,
            Peer::Nobody => PROC_NULL,
        };
        let tag = found.tag.map_or(ANY_TAG, |tag| tag as c_int);
        let mut status = Status::new(source, tag, found.bytes as i64);
        status.cancelled = c_int::from(found.is_cancelled);
        status.error = found.error.map_or(SUCCESS, code_of);
        status
    }
}

impl Status {
    /// Creates the status of a message.
    #[inline(always)]
    pub(crate) fn new(source: c_int, tag: c_int, bytes: i64) -> Self {
        let mut status =
            Status { source, tag, error: SUCCESS, cancelled: 0, bytes: [0; 2], unused: [0; 2] };
        status.set_bytes(bytes);
        status
    }

    /// Creates the empty status.
    pub(crate) fn empty() -> Self {
        Status::new(ANY_SOURCE, ANY_TAG, 0)
    }

    pub(crate) fn with_error(mut self, code: c_int) -> Self {
        self.error = code;
        self
    }

    /// Writes the empty status, whose error word signals success.
    ///
    /// # Safety
    /// `place` is writable or null.
    pub(crate) unsafe fn give_empty(place: *mut Status) {
        if !place.is_null() {
            *place = Status::empty();
        }
    }

    pub(crate) fn bytes(&self) -> i64 {
        i64::from(self.bytes[0] as u32) | i64::from(self.bytes[1]) << 32
    }

    #[inline(always)]
    pub(crate) fn set_bytes(&mut self, bytes: i64) {
        self.bytes = [bytes as c_int, (bytes >> 32) as c_int];
    }

    /// Writes it for the caller. Only calls that return several statuses write the error word.
    ///
    /// # Safety
    /// `place` is writable or null.
    pub(crate) unsafe fn give(self, place: *mut Status) {
        if !place.is_null() {
            // SAFETY: the caller promises the same.
            unsafe {
                let error = (*place).error;
                *place = Status { error, ..self };
            }
        }
    }
}

pub(crate) unsafe fn get_count(
    status: *const Status,
    datatype: Datatype,
    count: IntOrCountMut,
) -> Result {
    let (size, bytes) = (datatype::get(datatype)?.size(), given(status)?.bytes());
    let whole = match (bytes, size) {
        (0, _) => 0,
        (_, 0) => i64::from(UNDEFINED),
        _ if bytes % size == 0 => bytes / size,
        _ => i64::from(UNDEFINED),
    };
    count.write(whole);
    Ok(())
}

pub(crate) unsafe fn get_elements(
    status: *const Status,
    datatype: Datatype,
    count: IntOrCountMut,
) -> Result {
    let elements = datatype::get(datatype)?.elements_in(given(status)?.bytes());
    count.write(elements.unwrap_or(i64::from(UNDEFINED)));
    Ok(())
}

pub(crate) unsafe fn get_elements_x(
    status: *const Status,
    datatype: Datatype,
    count: *mut i64,
) -> Result {
    get_elements(status, datatype, count.into())
}

pub(crate) unsafe fn set_elements(status: *mut Status, datatype: Datatype, count: i64) -> Result {
    let bytes = datatype::get(datatype)?.bytes_of_elements(count);
    given_mut(status)?.set_bytes(bytes);
    Ok(())
}

pub(crate) unsafe fn test_cancelled(status: *const Status, flag: *mut c_int) -> Result {
    *flag = given(status)?.cancelled;
    Ok(())
}

pub(crate) unsafe fn set_cancelled(status: *mut Status, flag: c_int) -> Result {
    given_mut(status)?.cancelled = c_int::from(flag != 0);
    Ok(())
}

pub(crate) unsafe fn get_source(status: *const Status, source: *mut c_int) -> Result {
    *source = given(status)?.source;
    Ok(())
}

pub(crate) unsafe fn get_tag(status: *const Status, tag: *mut c_int) -> Result {
    *tag = given(status)?.tag;
    Ok(())
}

pub(crate) unsafe fn get_error(status: *const Status, error: *mut c_int) -> Result {
    *error = given(status)?.error;
    Ok(())
}

pub(crate) unsafe fn set_source(status: *mut Status, source: c_int) -> Result {
    given_mut(status)?.source = source;
    Ok(())
}

pub(crate) unsafe fn set_tag(status: *mut Status, tag: c_int) -> Result {
    given_mut(status)?.tag = tag;
    Ok(())
}

pub(crate) unsafe fn set_error(status: *mut Status, error: c_int) -> Result {
    given_mut(status)?.error = error;
    Ok(())
}

/// Converts a status to an array of Fortran's integers.
pub(crate) unsafe fn to_words(status: *const Status, words: *mut c_int) -> Result {
    words.cast::<Status>().write_unaligned(*given(status)?);
    Ok(())
}

/// Converts such an array to a status.
pub(crate) unsafe fn from_words(words: *const c_int, status: *mut Status) -> Result {
    copy(words.cast(), status)
}

/// Copies a status to or from Fortran 2008's, which has the same layout.
pub(crate) unsafe fn copy(from: *const Status, to: *mut Status) -> Result {
    *given_mut(to)? = *given(from)?;
    Ok(())
}

/// Returns a status of the program. Fails for null, such as MPI_STATUS_IGNORE.
///
/// # Safety
/// `status` is readable or null.
unsafe fn given<'a>(status: *const Status) -> Result<&'a Status> {
    status.as_ref().ok_or_else(is_none)
}

/// As [`given`], to be changed.
///
/// # Safety
/// `status` is writable or null.
unsafe fn given_mut<'a>(status: *mut Status) -> Result<&'a mut Status> {
    status.as_mut().ok_or_else(is_none)
}

fn is_none() -> Error {
    error_of(ERR_ARG, "MPI_STATUS_IGNORE is no status")
}
