//! Calls with counts, and valid addresses for them.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

use contract::{Readable, Writable};

/// Calls the function `name` of the library: the variant with 32-bit counts, which every program uses, if they suffice
/// for `largest`; else the variant with 64-bit counts. Expands to an expression of type `Result<c_int>`: the status.
///
/// Must be used inside `unsafe`: the caller is responsible for the requirements of the function on its arguments.
macro_rules! counted {
    ($library:expr, $largest:expr, $name:ident, [$($count:ident = $value:expr),+] ($($argument:expr),* $(,)?)) => {
        if $largest <= i32::MAX as usize {
            $(let $count = $value as std::ffi::c_int;)+
            Ok(($library.short.$name)($($argument),*))
        } else if let Some(long) = &$library.long {
            $(let $count = $value as i64;)+
            Ok((long.$name)($($argument),*))
        } else {
            Err($crate::endpoint::call::too_long($largest))
        }
    };
}
pub(super) use counted;

#[cold]
pub(super) fn too_long(count: usize) -> contract::Error {
    contract::Error::Unsupported {
        fabric: "this MPI".into(),
        what: format!(
            "move {count} elements in one call: it lacks the functions with counts of 64 bits (MPI_Send_c ...)"
        ),
    }
}

// The address of an empty slice is a small number, and 1 is MPI_IN_PLACE, so empty messages use these addresses.
static NOTHING_TO_SEND: u64 = 0;
// An atomic is in writable memory, which some MPIs require even of an empty buffer.
static NOTHING_TO_RECEIVE: AtomicU64 = AtomicU64::new(0);

/// Returns the address from which MPI may read `data`.
#[inline]
pub(super) fn readable(data: &[u8]) -> *const c_void {
    if data.is_empty() { (&raw const NOTHING_TO_SEND).cast() } else { data.as_ptr().cast() }
}

/// Returns the address of `buffer` for MPI to write to. For an empty buffer it is a static one that must not be written
/// to.
#[inline]
pub(super) fn writable(buffer: &mut [u8]) -> *mut c_void {
    if buffer.is_empty() { NOTHING_TO_RECEIVE.as_ptr().cast() } else { buffer.as_mut_ptr().cast() }
}

/// Returns the address from which MPI may read lent memory.
#[inline]
pub(super) fn readable_at(data: &Readable) -> *const c_void {
    if data.bytes() == 0 { (&raw const NOTHING_TO_SEND).cast() } else { data.as_ptr().cast() }
}

/// Returns the address at which MPI may write to lent memory.
#[inline]
pub(super) fn writable_at(room: &Writable) -> *mut c_void {
    if room.bytes() == 0 { NOTHING_TO_RECEIVE.as_ptr().cast() } else { room.as_mut_ptr().cast() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::IN_PLACE;

    #[test]
    fn an_empty_message_is_never_mistaken_for_one_in_place() {
        let nothing: &mut [u8] = &mut [];
        // The address that an empty slice would have.
        assert_eq!(nothing.as_ptr().addr(), IN_PLACE.addr());
        assert_ne!(readable(nothing), IN_PLACE);
        assert_ne!(writable(nothing).cast_const(), IN_PLACE);
        assert_ne!(writable(nothing).cast_const(), readable(&[]));
        assert_ne!(readable_at(&Readable::empty()), IN_PLACE);
        assert_ne!(writable_at(&Writable::empty()).cast_const(), IN_PLACE);
    }
}
