//! Moving bytes and lines: copies of short messages, and wishes for lines to come.

use super::{Body, Cell};

/// Asks for a line, to write to it soon. No more than a wish.
#[inline]
pub(super) fn will_write(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and fails nowhere.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Asks for a line, to read it soon. No more than a wish.
#[inline]
pub(super) fn will_read(line: &Cell) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction changes nothing but caches, and fails nowhere.
    unsafe {
        std::arch::asm!("prefetcht0 [{}]", in(reg) line, options(readonly, nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = line;
}

/// Copies `bytes` bytes, at most a [`Body`]'s, without calling out: overlapping moves of a fixed size, which take a
/// third of the time of `memcpy` for a length that the compiler does not know.
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
