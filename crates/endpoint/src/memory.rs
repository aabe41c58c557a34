//! Memory that a message is read from or written to, in the form for fabrics.
//!
//! A program lends memory to an [`Endpoint`](crate::Endpoint) while a request is in progress. Rust's borrows cannot
//! express "until that request has ended". So the promise is made once, where a [`Readable`] or [`Writable`] is
//! created, and all uses of one are safe.
#![allow(unsafe_code)]

use std::ops::Range;
use std::ptr::NonNull;

/// Bytes that a fabric reads.
#[derive(Clone, Copy, Debug)]
pub struct Readable {
    start: NonNull<u8>,
    bytes: usize,
}

/// Bytes that a fabric writes.
///
/// It is neither `Clone` nor `Copy`: only its holder writes through it.
#[derive(Debug)]
pub struct Writable {
    start: NonNull<u8>,
    bytes: usize,
}

/// Returns the address of `start`, or some non-null address for empty memory without one.
#[inline(always)]
fn address(start: *mut u8) -> NonNull<u8> {
    NonNull::new(start).unwrap_or(NonNull::dangling())
}

impl Readable {
    /// Lends the `bytes` bytes at `start`, which may be null if there are none.
    ///
    /// # Safety
    /// They are initialised, and are not written to, until the request that uses them has ended, or until a call of the
    /// endpoint has failed permanently.
    #[inline(always)]
    pub const unsafe fn new(start: *const u8, bytes: usize) -> Self {
        let start = match NonNull::new(start.cast_mut()) {
            Some(start) => start,
            None => NonNull::dangling(),
        };
        Readable { start, bytes }
    }

    /// Returns memory without any bytes.
    pub const fn empty() -> Self {
        Readable { start: NonNull::dangling(), bytes: 0 }
    }

    /// Returns the number of bytes.
    #[inline(always)]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the address of the bytes.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *const u8 {
        self.start.as_ptr()
    }

    /// Returns a part of the bytes.
    ///
    /// # Panics
    /// If the part is not within them.
    #[inline]
    pub fn part(&self, bytes: Range<usize>) -> Self {
        assert!(bytes.start <= bytes.end && bytes.end <= self.bytes, "{bytes:?} of {}", self.bytes);
        // SAFETY: just checked to be within the memory that `new` was promised.
        unsafe { Readable::new(self.start.as_ptr().add(bytes.start), bytes.end - bytes.start) }
    }

    /// Returns the bytes. The slice must not outlive the request.
    #[inline(always)]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the creator promised initialised bytes that are not written to while an endpoint uses them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

impl Writable {
    /// Lends the `bytes` bytes at `start`, which may be null if there are none.
    ///
    /// # Safety
    /// They are initialised, and nothing else reads or writes them, until the request that uses them has ended, or
    /// until a call of the endpoint has failed permanently. Several requests may use the same memory if the caller
    /// accepts that it finally contains any one of the messages.
    #[inline(always)]
    pub unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Writable { start: address(start), bytes }
    }

    /// Returns memory without any bytes.
    pub const fn empty() -> Self {
        Writable { start: NonNull::dangling(), bytes: 0 }
    }

    /// Returns the number of bytes.
    #[inline(always)]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the address of the bytes.
    #[inline(always)]
    pub const fn as_mut_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns a part of the room. The rest is no longer used.
    ///
    /// # Panics
    /// If the part is not within the room.
    #[inline]
    pub fn part(self, bytes: Range<usize>) -> Self {
        assert!(bytes.start <= bytes.end && bytes.end <= self.bytes, "{bytes:?} of {}", self.bytes);
        // SAFETY: just checked to be within the memory that `new` was promised.
        unsafe { Writable::new(self.start.as_ptr().add(bytes.start), bytes.end - bytes.start) }
    }

    /// Copies as much of `data` as there is room for from `offset` on.
    #[inline]
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        let kept = data.len().min(self.bytes.saturating_sub(offset));
        if kept > 0 {
            // SAFETY: `offset + kept` is within the room, which nothing else uses by the promise of `new`. `copy`
            // because a rank that sends to itself may send from the memory it receives into.
            unsafe { std::ptr::copy(data.as_ptr(), self.start.as_ptr().add(offset), kept) };
        }
    }

    /// Returns the part of the room that is in `range`, for receiving into. The slice must not outlive the request.
    #[inline]
    pub fn part_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        let end = range.end.min(self.bytes);
        let start = range.start.min(end);
        // SAFETY: `start..end` is within the room, which nothing else uses by the promise of `new`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(start), end - start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_data_are_truncated() {
        let mut room = [0; 4];
        // SAFETY: `room` outlives `memory` and is not used meanwhile.
        let mut memory = unsafe { Writable::new(room.as_mut_ptr(), room.len()) };
        memory.write(2, &[1, 2, 3]);
        memory.write(9, &[7]);
        memory.part_mut(0..1)[0] = 5;
        assert_eq!((memory.part_mut(3..9).len(), memory.part_mut(8..9).len()), (1, 0));
        assert_eq!(room, [5, 0, 1, 2]);
    }

    #[test]
    fn memory_without_an_address_is_empty() {
        // SAFETY: there are no bytes.
        let (from, mut to) =
            unsafe { (Readable::new(std::ptr::null(), 0), Writable::new(std::ptr::null_mut(), 0)) };
        assert_eq!((from.as_slice(), Readable::empty().bytes()), (&[][..], 0));
        to.write(0, &[1]);
        assert_eq!((to.part_mut(0..1).len(), Writable::empty().bytes()), (0, 0));
    }
}
