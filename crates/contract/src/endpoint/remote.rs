//! Access to the memory of other ranks without their participation.

use std::ptr::NonNull;

use crate::{Error, Result};

/// Memory of other ranks that an endpoint can access. The provided methods are for a fabric that can access none;
/// windows then use messages.
#[allow(unsafe_code)]
pub trait RemoteMemory {
    /// Returns the fabric's place of `bytes` bytes of this rank's memory, if every rank can access them directly. All
    /// memory from [`allocate`](crate::Endpoint::allocate) has a place, other memory may.
    fn place_of(&self, _memory: *const u8, _bytes: usize) -> Option<u64> {
        None
    }

    /// As [`place_of`](RemoteMemory::place_of), for memory of
    /// [`allocate_on_host`](RemoteMemory::allocate_on_host) and parts of it.
    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        self.place_of(memory, bytes)
    }

    /// Allocates memory that every rank can access directly, on any fabric: for programs that share memory on purpose.
    /// Returns `None` if the ranks are not all on one host. The memory is not initialised;
    /// [`release`](crate::Endpoint::release) frees it.
    fn allocate_on_host(&mut self, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Returns the address in this process of the `bytes` bytes at such a place of any rank.
    fn memory_at(&self, _place: u64, _bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// Returns whether [`read_memory`](RemoteMemory::read_memory) and [`write_memory`](RemoteMemory::write_memory) are
    /// supported, for any memory of any rank.
    fn reads_memory(&self) -> bool {
        false
    }

    /// Copies `bytes` bytes at `address` of another rank's process to `to`. That rank does not participate.
    ///
    /// # Errors
    /// [`Error::System`] if there is no such memory, and [`Error::Unsupported`].
    ///
    /// # Safety
    /// `to` has room for them, and that rank has promised that they may be read.
    unsafe fn read_memory(
        &mut self,
        _rank: usize,
        _address: u64,
        _to: *mut u8,
        _bytes: usize,
    ) -> Result<()> {
        let (fabric, what) = ("this fabric".into(), "read another rank's memory".into());
        Err(Error::Unsupported { fabric, what })
    }

    /// Copies `bytes` bytes at `from` to `address` of another rank's process.
    ///
    /// # Errors
    /// As for [`read_memory`](RemoteMemory::read_memory).
    ///
    /// # Safety
    /// `from` has them, and that rank has promised that they may be written.
    unsafe fn write_memory(
        &mut self,
        _rank: usize,
        _address: u64,
        _from: *const u8,
        _bytes: usize,
    ) -> Result<()> {
        let (fabric, what) = ("this fabric".into(), "write another rank's memory".into());
        Err(Error::Unsupported { fabric, what })
    }
}
