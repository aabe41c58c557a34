//! Memory that ranks of a host share at the program's request. Messages do not use it.

use std::ptr::NonNull;

use contract::{Endpoint, OneSided, RemoteMemory};

use super::OfiEndpoint;

/// The highest bits of a place of memory are the host, so that places of different hosts differ.
const HOST_SHIFT: u32 = 48;

/// Windows use one-sided operations of the provider, except for memory that the program itself shares among ranks of
/// one host.
impl RemoteMemory for OfiEndpoint {
    fn one_sided(&mut self) -> Option<&mut dyn OneSided> {
        // Also after a failure, which the operations then return.
        if self.has_one_sided { Some(self) } else { None }
    }

    fn place_on_host(&self, memory: *const u8, bytes: usize) -> Option<u64> {
        match &self.engine.transport().launched {
            None => self.outer().place_on_host(memory, bytes),
            Some(here) => {
                let place = here.seat.place_of(memory, bytes)?;
                Some(place | u64::from(here.host) << HOST_SHIFT)
            }
        }
    }

    fn allocate_on_host(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        match &self.engine.transport().launched {
            None => self.outer_mut().allocate_on_host(bytes),
            Some(here) => here.seat.allocate(bytes),
        }
    }

    fn memory_at(&self, place: u64, bytes: usize) -> Option<NonNull<u8>> {
        match &self.engine.transport().launched {
            None => self.outer().memory_at(place, bytes),
            Some(here) if place >> HOST_SHIFT == u64::from(here.host) => {
                here.seat.memory_at(place & ((1 << HOST_SHIFT) - 1), bytes)
            }
            Some(_) => None,
        }
    }
}

impl OfiEndpoint {
    /// Frees memory of [`allocate_on_host`](RemoteMemory::allocate_on_host).
    ///
    /// # Safety
    /// As of [`Endpoint::release`]. The memory must come from `allocate_on_host`.
    pub(super) unsafe fn release_on_host(&mut self, memory: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            match &self.engine.transport().launched {
                None => self.outer_mut().release(memory, bytes),
                Some(here) => here.seat.release(memory, bytes),
            }
        }
    }
}
