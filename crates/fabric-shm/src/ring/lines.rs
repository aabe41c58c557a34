//! Copies of short messages, and prefetches of cache lines.

use super::{Body, Cell};

/// Prefetches a line that is written soon. A hint.
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

/// Prefetches a line that is read soon. A hint.
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

/// Copies `bytes` bytes, at most a [`Body`]'s, without a call: by overlapping moves of a fixed size, which
/// are faster than `memcpy` for a length that the compiler does not know. See
/// docs/measurements.md#copies-of-a-few-bytes.
///
/// # Safety
/// Both places hold `bytes` bytes and do not overlap.
#[inline]
pub(crate) unsafe fn copy_short(from: *const u8, to: *mut u8, bytes: usize) {
    /// Moves one `T` at both ends; for lengths of one `T` to two.
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
