//! Prefetching: memory is brought into the caches during other computing.

/// Number of bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Prefetches all of `data`. This is a hint: it has no effect but on speed.
///
/// It is useful for data in another core's cache, or in the last-level cache, that is read in pieces of a few KiB with
/// computing between them. The processor does not prefetch across such gaps by itself.
pub(crate) fn prefetch_all<T>(data: &[T]) {
    let first = data.as_ptr().cast::<u8>();
    for at in (0..size_of_val(data)).step_by(LINE_BYTES) {
        prefetch_line(first.wrapping_add(at));
    }
}

/// Prefetches the cache line of one element. The element need not exist.
#[inline(always)]
pub(crate) fn prefetch_line<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it takes any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
