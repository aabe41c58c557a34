//! A provider's operations on memory of other ranks: registration, writes, reads and atomic operations.

use std::ffi::CString;

use super::{Entries, Hints, Provider, query};
use crate::ffi;

/// A provider's operations on memory of other ranks. Writes can be completed by their delivery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote {
    pub(crate) has_atomics: bool,
    pub(crate) order: AtomicOrder,
    /// The provider's requirements on registered memory.
    pub(crate) mr_mode: i32,
}

/// The order in which a provider executes atomic operations of one rank on another: whether reads follow reads, and so
/// on. An operation that fetches and updates is both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomicOrder {
    pub(crate) reads_after_reads: bool,
    pub(crate) reads_after_writes: bool,
    pub(crate) writes_after_reads: bool,
    pub(crate) writes_after_writes: bool,
}

impl AtomicOrder {
    pub(crate) fn of_flags(order: u64) -> Self {
        let has = |flag: u64| order & flag != 0;
        AtomicOrder {
            reads_after_reads: has(ffi::ORDER_ATOMIC_RAR),
            reads_after_writes: has(ffi::ORDER_ATOMIC_RAW),
            writes_after_reads: has(ffi::ORDER_ATOMIC_WAR),
            writes_after_writes: has(ffi::ORDER_ATOMIC_WAW),
        }
    }
}

impl Provider {
    /// Returns the same provider with endpoints that access memory of other ranks as well, if it has such. The choice
    /// of the provider does not depend on that.
    pub(super) fn with_one_sided(self) -> Self {
        let with = [ffi::ATOMIC, 0].into_iter().find_map(|atomics| self.offered_with(atomics));
        with.unwrap_or(self)
    }

    /// Requests from the library the provider with writes and reads, and with the capability `atomics`.
    fn offered_with(&self, atomics: u64) -> Option<Self> {
        let library = self.library();
        let name = CString::new(self.name.as_str()).ok()?;
        let domain = CString::new(self.domain.as_str()).ok()?;
        let hints = Hints::new(library, Some(name)).ok()?;
        // SAFETY: the hints have all their parts, and nothing else refers to them. freeinfo frees the name of the
        // domain with the allocator of strdup.
        unsafe {
            (*(*hints.0.as_ptr()).domain_attr).name = libc::strdup(domain.as_ptr());
            let entry = &mut *hints.0.as_ptr();
            entry.caps |= ffi::RMA | ffi::READ | ffi::WRITE | ffi::REMOTE_READ | ffi::REMOTE_WRITE;
            entry.caps |= atomics;
            // A flush waits for completions, so they must mean that the data have arrived.
            (*entry.tx_attr).op_flags = ffi::DELIVERY_COMPLETE;
        }
        let first = query(library, hints.0.as_ptr()).ok()?;
        let with = Self::of(library, Entries { library, first }).ok()?;
        if with.name != self.name || with.domain != self.domain {
            return None;
        }
        // SAFETY: entries of fi_getinfo have all their parts, and nothing else refers to these now.
        let remote = unsafe {
            let (own, entry) = (self.info.as_ref(), with.info.as_ref());
            // Messages complete as before. Writes and atomic operations name the flag themselves.
            (*entry.tx_attr).op_flags = (*own.tx_attr).op_flags;
            Remote {
                has_atomics: atomics != 0,
                order: AtomicOrder::of_flags(
                    (*entry.tx_attr).msg_order & (*entry.rx_attr).msg_order,
                ),
                mr_mode: (*entry.domain_attr).mr_mode,
            }
        };
        Some(Provider { remote: Some(remote), ..with })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_atomic_operations_is_read_from_its_flags() {
        let order = AtomicOrder::of_flags(ffi::ORDER_ATOMIC_WAW | ffi::ORDER_ATOMIC_RAR | 0x1ff);
        let expected = AtomicOrder {
            reads_after_reads: true,
            reads_after_writes: false,
            writes_after_reads: false,
            writes_after_writes: true,
        };
        assert_eq!(order, expected);
    }
}
