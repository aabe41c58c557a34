//! Strings of C.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::abi::ERR_ARG;
use crate::failure::{Result, ensure};

/// Returns a string of the caller.
///
/// # Safety
/// `text` is null or a C string.
pub(crate) unsafe fn read(text: *const c_char) -> Result<String> {
    ensure!(!text.is_null(), ERR_ARG, "a string is a null pointer");
    // SAFETY: the caller promises the same.
    Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Returns a file name of the caller, with any bytes.
///
/// # Safety
/// As for [`read`].
pub(crate) unsafe fn read_path(text: *const c_char) -> Result<PathBuf> {
    ensure!(!text.is_null(), ERR_ARG, "a file name is a null pointer");
    // SAFETY: the caller promises the same.
    let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
    Ok(PathBuf::from(OsStr::from_bytes(bytes)))
}

/// Writes `text`, truncated to `room` bytes including the zero at its end, and its length.
///
/// # Safety
/// `place` has `room` bytes, and `length` is writable or null.
pub(crate) unsafe fn write(text: &str, place: *mut c_char, room: c_int, length: *mut c_int) {
    let bytes = text.floor_char_boundary((room as usize).saturating_sub(1));
    // SAFETY: at most `room` bytes are written.
    unsafe {
        if room > 0 {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), place, bytes);
            *place.add(bytes) = 0;
        }
        if !length.is_null() {
            *length = bytes as c_int;
        }
    }
}
