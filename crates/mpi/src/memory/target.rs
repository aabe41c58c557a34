//! Elements in memory of windows, and in operands and results of their operations.

use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;

use contract::{Endpoint, Window, WindowPart};

use super::storage::Storage;
use super::view::Memory;
use crate::datatype::Datatype;

/// Memory of a program that a window exposes to other processes.
#[derive(Debug)]
pub struct Exposed {
    start: *mut u8,
    bytes: u64,
}

impl Exposed {
    /// Exposes the `bytes` bytes at `start`.
    ///
    /// # Safety
    /// They are initialised, and stay valid until the window that uses them is freed. Until then other processes read
    /// and write them, and the program separates its own accesses from theirs as MPI requires.
    pub unsafe fn new(start: *mut u8, bytes: u64) -> Self {
        Exposed { start, bytes }
    }

    /// Exposes memory that the window has allocated and keeps, or none for a dynamic window.
    pub(crate) fn made(start: *mut u8, bytes: u64) -> Self {
        Exposed { start, bytes }
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns it as part of a window.
    pub(crate) fn part<E: Endpoint>(&self, endpoint: &mut E) -> WindowPart {
        // SAFETY: the promise of `new`; what the window made it keeps until it is closed.
        unsafe { WindowPart::new(endpoint, self.start, self.bytes) }
    }

    /// Returns memory that all ranks of the host share as part of a window.
    pub(crate) fn part_on_host<E: Endpoint>(&self, endpoint: &mut E) -> WindowPart {
        // SAFETY: as above.
        unsafe { WindowPart::on_host(endpoint, self.start, self.bytes) }
    }
}

impl Storage {
    /// Returns the address of the bytes, for a window that keeps them.
    pub(crate) fn address(&self) -> *mut u8 {
        self.start()
    }
}

/// Frees memory that the endpoint has allocated for a window, which must be closed.
pub(crate) fn release<E: Endpoint>(endpoint: &mut E, start: NonNull<u8>, bytes: usize) {
    if let Some(memory) = endpoint.host_memory() {
        // SAFETY: windows keep as many bytes as they have got, and give them back once.
        unsafe { memory.arenas.release(start, bytes) };
    }
}

/// Returns the bytes from the first to the last of `count` elements, from the address of the elements, or `None` on
/// overflow.
pub(crate) fn span(of: &Datatype, count: i64) -> Option<Range<i64>> {
    if count == 0 || of.size() == 0 {
        return Some(0..0);
    }
    let far = (count - 1).checked_mul(of.extent())?;
    let first = of.true_lower().checked_add(far.min(0))?;
    let length = of.true_extent().checked_add(far.checked_abs()?)?;
    Some(first..first.checked_add(length)?)
}

/// Returns `count` elements at `offset` of a member's memory, if this process can access it and they lie in it.
#[inline]
pub(crate) fn in_window(
    window: &Window,
    target: usize,
    offset: i64,
    (count, of): (i64, &Rc<Datatype>),
) -> Option<Memory> {
    let span = span(of, count)?;
    let first = u64::try_from(offset.checked_add(span.start)?).ok()?;
    let start = window.here(target, first, (span.end - span.start) as u64)?;
    let start = start.as_ptr().wrapping_offset(-span.start as isize);
    // SAFETY: the window has as many bytes from the first on, which whoever made it has promised until it is freed.
    Some(unsafe { Memory::unchecked(start, count, of.clone()) })
}

/// Calls a function with bytes as elements, one extent after the other.
///
/// # Panics
/// If there are too few bytes, or an element has data outside of its extent.
pub(crate) fn with_elements<R>(
    bytes: &mut [u8],
    (count, of): (i64, &Rc<Datatype>),
    with: impl FnOnce(&Memory) -> R,
) -> R {
    let span = span(of, count).expect("as many as there are bytes");
    assert!(span.start >= 0 && span.end <= bytes.len() as i64, "{span:?} of {}", bytes.len());
    // SAFETY: just checked, and borrowed while `with` runs. Who keeps a clone does not use it: this is for copies.
    let memory = unsafe { Memory::unchecked(bytes.as_mut_ptr(), count, of.clone()) };
    with(&memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Kind;

    #[test]
    fn elements_go_into_bytes_with_their_gaps() {
        // A short and an int: 2 bytes, a gap of 2, and 4 bytes.
        let pair = Datatype::pair(Kind::Signed(2), Kind::Signed(4));
        let packed: Vec<u8> = (1..=12).collect();
        let mut bytes = [0; 16];
        with_elements(&mut bytes, (2, &pair), |elements| elements.unpack_from(&packed));
        assert_eq!(bytes, [1, 2, 0, 0, 3, 4, 5, 6, 7, 8, 0, 0, 9, 10, 11, 12]);
        assert_eq!(span(&pair, 2), Some(0..16));
        assert_eq!(span(&pair, 0), Some(0..0));
        assert_eq!(span(&pair, i64::MAX), None);
    }
}
