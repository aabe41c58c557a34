//! Buffers for messages.

use bytemuck::{Pod, Zeroable};

use crate::{Error, Result};

const PAGE_BYTES: usize = 4096;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// A message buffer: page-aligned and zeroed, with every page touched, so that no page fault falls into a measurement.
///
/// Posted operations take the buffer and return it on completion. It cannot be accessed in between, so the contract
/// needs neither lifetimes nor `unsafe`. Because of the alignment, any plain element type can be viewed in place.
#[derive(Clone)]
pub struct Buffer {
    pages: Vec<Page>,
    bytes: usize,
}

impl Buffer {
    /// Creates a buffer of `bytes` zero bytes.
    ///
    /// # Panics
    /// If the address space has no room. Use [`Buffer::try_zeroed`] for a size that a user chose.
    pub fn zeroed(bytes: usize) -> Self {
        Buffer::try_zeroed(bytes).expect("no memory for a message buffer")
    }

    /// Creates a buffer of `bytes` zero bytes, or returns [`Error::OutOfMemory`]. The caller must check beforehand
    /// whether the machine has that much memory: a system that overcommits kills the process instead of failing here.
    pub fn try_zeroed(bytes: usize) -> Result<Self> {
        let count = bytes.div_ceil(PAGE_BYTES);
        let mut pages = bytemuck::try_zeroed_vec::<Page>(count).map_err(|()| {
            Error::OutOfMemory { what: "a message buffer".into(), bytes: bytes as u64 }
        })?;
        for page in &mut pages {
            // A fresh mapping is backed by one shared zero page until it is written. `black_box` keeps the compiler
            // from removing the store of a zero over a zero.
            page.0[0] = std::hint::black_box(0);
        }
        Ok(Buffer { pages, bytes })
    }

    /// Creates a buffer with a copy of `data`.
    pub fn from_bytes(data: &[u8]) -> Self {
        let mut buffer = Buffer::zeroed(data.len());
        buffer.copy_from_slice(data);
        buffer
    }

    /// Sets the length to `bytes`. Shrinking keeps the pages, so growing back costs nothing. New bytes are zero only if
    /// they were never used.
    pub fn resize(&mut self, bytes: usize) {
        if bytes > self.pages.len() * PAGE_BYTES {
            let old = std::mem::replace(self, Buffer::zeroed(bytes));
            self[..old.len()].copy_from_slice(&old);
        }
        self.bytes = bytes;
    }

    /// Returns the contents as elements of type `T`, without the bytes after the last whole element.
    pub fn elements<T: Pod>(&self) -> &[T] {
        let whole = self.bytes - self.bytes % size_of::<T>().max(1);
        bytemuck::cast_slice(&self[..whole])
    }

    /// Returns the contents as mutable elements of type `T`, without the bytes after the last whole element.
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
    fn growing_keeps_the_content() {
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
