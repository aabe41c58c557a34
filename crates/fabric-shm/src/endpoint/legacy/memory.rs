//! Memory that a rank allocates and all ranks see.

use std::ptr::NonNull;

use super::ShmEndpoint;
use crate::arena;

impl ShmEndpoint {
    /// Memory that every rank reads and writes directly, aligned to pages; none if there is no such memory. What it holds is
    /// anything.
    pub fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        arena::allocate(bytes)
    }

    /// Gives such memory back.
    ///
    /// # Safety
    /// `memory` came from [`allocate`](ShmEndpoint::allocate) with as many bytes, and nobody uses it any more.
    pub unsafe fn release(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: our caller's promise.
        unsafe { arena::free(memory, bytes) };
    }
}
