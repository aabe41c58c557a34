//! Copies of short messages, prefetching of cache lines, and the transfer of their ownership.

use super::{Body, Cell, LINE_BYTES};
use crate::primitive::note_taken;

/// Prefetches a line that will be written soon. A hint.
#[inline]
pub(super) fn prefetch_for_write(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and never faults.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Prefetches a line that will be read soon. A hint.
#[inline]
pub(super) fn prefetch(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and never faults.
    unsafe {
        std::arch::asm!("prefetcht0 [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Length that is taken from its writer at once, before it is copied. It must stay in the nearest cache meanwhile, and
/// the copy of one part overlaps with the taking of the next only if parts are short. See
/// docs/measurements.md#length-that-is-taken-at-once.
pub(crate) const TAKEN_BYTES: usize = 2 << 10;

/// Takes ownership of the cache lines of `bytes` bytes from the processor that wrote them, before they are read, by
/// adding zero to one byte of each.
///
/// A line that was only read stays in both caches, and the writer's next store must invalidate the reader's copy. If
/// that takes longer than fetching a line, as on Zen 4, it limits a stream in one direction. A line that was taken
/// moves back and forth between two owners. `prefetchw` does not have this effect. See
/// docs/measurements.md#lines-that-their-reader-takes.
///
/// # Safety
/// The bytes are mapped for writing, and nobody else reads or writes them before this rank declares that it has read
/// them.
#[inline]
pub(crate) unsafe fn take_lines(start: *const u8, bytes: usize) {
    note_taken(start, bytes);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for offset in (0..bytes).step_by(LINE_BYTES) {
        // SAFETY: the byte is among those that the caller promised, and keeps its value.
        unsafe {
            std::arch::asm!("add byte ptr [{}], 0", in(reg) start.add(offset), options(nostack));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, bytes, LINE_BYTES);
}

/// Copies `bytes` bytes, at most a [`Body`]'s, without a call: by overlapping moves of a fixed size, which are faster
/// than `memcpy` for a length that the compiler does not know.
///
/// # Safety
/// Both places hold `bytes` bytes and do not overlap.
#[inline]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
    /// Moves one `T` at each end. For lengths of one `T` to two.
    ///
    /// # Safety
    /// As above, with `bytes >= size_of::<T>()`.
    #[inline]
    unsafe fn both_ends<T: Copy>(from: *const u8, to: *mut u8, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: both moves lie within `bytes`.
        unsafe {
            let (first, second) =
                (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
            to.cast::<T>().write_unaligned(first);
            to.add(last).cast::<T>().write_unaligned(second);
        }
    }
    debug_assert!(bytes <= size_of::<Body>());
    // SAFETY: each arm moves within `bytes`; the last begins with 32 bytes and ends with as many.
    unsafe {
        match bytes {
            0 => {}
            1 => *to = *from,
            2..4 => both_ends::<u16>(from, to, bytes),
            4..8 => both_ends::<u32>(from, to, bytes),
            8..16 => both_ends::<u64>(from, to, bytes),
            16..=32 => both_ends::<u128>(from, to, bytes),
            _ => {
                both_ends::<u128>(from, to, 32);
                both_ends::<u128>(from.add(bytes - 32), to.add(bytes - 32), 32);
            }
        }
    }
}
