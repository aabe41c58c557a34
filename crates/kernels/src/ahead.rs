//! Asking for memory before it is read, so that it comes while something else is computed.

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Asks for all of `data`. For what lies in another core's cache or in the last one, and is read in pieces of a few KiB with
/// computing between them: there the processor does not look ahead by itself. A wish: nothing is read, and nothing changes.
pub(crate) fn ask_ahead<T>(data: &[T]) {
    let first = data.as_ptr().cast::<u8>();
    for at in (0..size_of_val(data)).step_by(LINE_BYTES) {
        prefetch(first.wrapping_add(at));
    }
}

/// Asks for the line of one element, which need not exist.
#[inline(always)]
pub(crate) fn prefetch<T>(line: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it takes any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
