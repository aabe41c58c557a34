//! Memory of the library from which messages are sent and into which they are received, with several owners.

use std::ops::Range;
use std::ptr::NonNull;
use std::rc::Rc;

use contract::{Readable, Writable};

/// Bytes of the library. Clones share the bytes, which last as long as any of them.
///
/// Code that lends a part to a fabric keeps a clone until the request has ended, and nobody accesses a part that a
/// fabric writes before that.
#[derive(Clone, Debug)]
pub(crate) struct Storage(Rc<Bytes>);

#[derive(Debug)]
struct Bytes {
    start: NonNull<u8>,
    bytes: usize,
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let bytes = std::ptr::slice_from_raw_parts_mut(self.start.as_ptr(), self.bytes);
        // SAFETY: they came from such a box, in `Storage::from`.
        drop(unsafe { Box::from_raw(bytes) });
    }
}

impl From<Vec<u8>> for Storage {
    fn from(bytes: Vec<u8>) -> Self {
        let length = bytes.len();
        let start = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>();
        let start = NonNull::new(start).expect("a box is never null");
        Storage(Rc::new(Bytes { start, bytes: length }))
    }
}

impl Storage {
    /// Allocates `bytes` zeros.
    pub(crate) fn zeroed(bytes: usize) -> Self {
        vec![0; bytes].into()
    }

    /// Returns the number of bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Returns their address.
    pub(super) fn start(&self) -> *mut u8 {
        self.0.start.as_ptr()
    }

    /// Returns the address and the length of a part.
    fn part(&self, part: Range<usize>) -> (*mut u8, usize) {
        assert!(part.start <= part.end && part.end <= self.0.bytes, "{part:?} of {}", self.0.bytes);
        (self.start().wrapping_add(part.start), part.end - part.start)
    }

    /// Lends a part to a fabric for reading.
    pub(crate) fn readable(&self, part: Range<usize>) -> Readable {
        let (start, bytes) = self.part(part);
        // SAFETY: the bytes are initialised, and whoever posts them keeps them, as this type's documentation asks.
        unsafe { Readable::new(start, bytes) }
    }

    /// Lends a part to a fabric for writing.
    pub(crate) fn writable(&self, part: Range<usize>) -> Writable {
        let (start, bytes) = self.part(part);
        // SAFETY: as above.
        unsafe { Writable::new(start, bytes) }
    }

    /// Calls `read` with a part that no fabric writes any more.
    pub(crate) fn with<R>(&self, part: Range<usize>, read: impl FnOnce(&[u8]) -> R) -> R {
        let (start, bytes) = self.part(part);
        // SAFETY: the bytes are initialised, and nobody writes to them while `read` runs: there is one thread,
        // and as this type's documentation asks, no request that writes them is under way.
        read(unsafe { std::slice::from_raw_parts(start, bytes) })
    }
}
