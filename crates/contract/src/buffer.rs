//! Memory for messages.

use bytemuck::{Pod, Zeroable};

use crate::{Error, Result};

const PAGE_BYTES: usize = 4096;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// A message buffer: page-aligned, zeroed, and every page touched, so that no page fault falls into a measurement.
///
/// Posted operations take it and give it back on completion; nobody can touch it in between, which is why the contract
/// needs neither lifetimes nor `unsafe`. The alignment lets any plain element type be viewed in place.
#[derive(Clone)]
pub struct Buffer {
    pages: Vec<Page>,
    bytes: usize,
}

impl Buffer {
    /// Returns a buffer of `bytes` zero bytes.
    ///
    /// # Panics
    /// If the address space has no room; for a size that a user chose, call [`Buffer::try_zeroed`].
    pub fn zeroed(bytes: usize) -> Self {
        Buffer::try_zeroed(bytes).expect("no memory for a message buffer")
    }

    /// Returns a buffer of `bytes` zero bytes, or [`Error::OutOfMemory`]. Whether the machine really has that much
    /// memory is for the caller to ask first: a system that overcommits says so only by killing.
    pub fn try_zeroed(bytes: usize) -> Result<Self> {
        let count = bytes.div_ceil(PAGE_BYTES);
        let mut pages = bytemuck::try_zeroed_vec::<Page>(count).map_err(|()| {
            Error::OutOfMemory { what: "a message buffer".into(), bytes: bytes as u64 }
        })?;
        for page in &mut pages {
            // A fresh mapping is backed by one shared zero page until it is written; the volatile-like detour through
            // black_box keeps the compiler from dropping the store of a zero over a zero.
            page.0[0] = std::hint::black_box(0);
        }
        Ok(Buffer { pages, bytes })
    }

    /// Returns a buffer with a copy of `data`.
    pub fn from_bytes(data: &[u8]) -> Self {
        let mut buffer = Buffer::zeroed(data.len());
        buffer.copy_from_slice(data);
        buffer
    }

    /// Makes the buffer `bytes` long. Shrinking keeps the pages, so growing back costs nothing; new bytes are zero only
    /// where they were never used.
    pub fn resize(&mut self, bytes: usize) {
        if bytes > self.pages.len() * PAGE_BYTES {
            let old = std::mem::replace(self, Buffer::zeroed(bytes));
            self[..old.len()].copy_from_slice(&old);
        }
        self.bytes = bytes;
    }

    /// Returns the contents as elements of type `T`; bytes beyond the last whole element are left out.
    pub fn elements<T: Pod>(&self) -> &[T] {
        let whole = self.bytes - self.bytes % size_of::<T>().max(1);
        bytemuck::cast_slice(&self[..whole])
    }

    /// Returns the contents as elements of type `T`, to write; bytes beyond the last whole element are left out.
    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        let whole = self.bytes - self.bytes % size_of::<T>().max(1);
        bytemuck::cast_slice_mut(&mut self[..whole])
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.pages)[..self.bytes]
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.pages)[..self.bytes]
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_page_aligned_and_zero() {
        let buffer = Buffer::zeroed(5000);
        assert_eq!(buffer.as_ptr() as usize % PAGE_BYTES, 0);
        assert_eq!(buffer.len(), 5000);
        assert!(buffer.iter().all(|&byte| byte == 0));
        assert!(Buffer::zeroed(0).is_empty());
    }

    #[test]
    fn growing_keeps_what_was_there() {
        let mut buffer = Buffer::from_bytes(&[1, 2, 3]);
        buffer.resize(2);
        buffer.resize(3);
        assert_eq!(&buffer[..], &[1, 2, 3]);
        buffer.resize(9000);
        assert_eq!(&buffer[..4], &[1, 2, 3, 0]);
    }

    #[test]
    fn elements_leave_out_a_broken_last_one() {
        let mut buffer = Buffer::zeroed(11);
        buffer.elements_mut::<u32>()[1] = 7;
        assert_eq!(buffer.elements::<u32>(), &[0, 7]);
    }
}
