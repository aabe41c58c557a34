//! Long copies from and to members' memory. A sequence of them fills the caches with data that are not read soon, and
//! fetches each line from memory only to overwrite it. From a certain length on the stores bypass the caches.

use std::cell::Cell;

use super::Window;

/// Length from which copies are counted.
pub const LONG_COPY_BYTES: usize = 64 << 10;
/// Length from which a run of copies, each of which begins where the previous one ended, bypasses the caches. Source
/// and target together are twice as long.
const RUN_BYTES: usize = 16 << 20;

/// The latest copies, each of which began where the previous one ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    start: usize,
    bytes: usize,
    /// Length of the previous run if it began at the same place.
    before: usize,
}

/// The current run of a window's long copies.
#[derive(Default)]
pub(super) struct Runs(Cell<Run>);

impl Runs {
    /// Records a copy to this address. Returns whether it belongs to a long run.
    fn note(&self, to: usize, bytes: usize) -> bool {
        let run = self.0.get();
        let now = match to {
            to if to == run.start.wrapping_add(run.bytes) => {
                Run { bytes: run.bytes.saturating_add(bytes), ..run }
            }
            to if to == run.start => Run { bytes, before: run.bytes.max(bytes), ..run },
            _ => Run { start: to, bytes, before: 0 },
        };
        self.0.set(now);
        now.bytes.max(now.before) >= RUN_BYTES
    }
}

impl Window {
    /// Returns whether a copy to this address belongs to a long run of this window, for which [`copy_past_caches`] is
    /// used.
    #[inline(always)]
    pub fn is_of_long_run(&self, to: *const u8, bytes: usize) -> bool {
        bytes >= LONG_COPY_BYTES && self.runs.note(to.addr(), bytes)
    }

    /// Copies bytes from or to a member's memory.
    ///
    /// # Safety
    /// Both places have `bytes` bytes.
    #[inline]
    pub(super) unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: the caller promises the same.
        unsafe {
            match self.is_of_long_run(to, bytes) {
                true => copy_past_caches(from, to, bytes),
                false => std::ptr::copy(from, to, bytes),
            }
        }
    }
}

/// Copies with stores that bypass the caches. Others see the bytes after the next release.
///
/// # Safety
/// Both places have `bytes` bytes.
#[cfg(target_arch = "x86_64")]
pub unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    if from.addr().abs_diff(to.addr()) < bytes {
        // SAFETY: the caller promises the same; here they overlap.
        return unsafe { std::ptr::copy(from, to, bytes) };
    }
    // SAFETY: all places are within the bytes, and those that are stored to are aligned to lines.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let (from, to) = (from.add(at).cast::<__m128i>(), to.add(at).cast::<__m128i>());
            let parts = [0, 1, 2, 3].map(|part| _mm_loadu_si128(from.add(part)));
            parts.into_iter().enumerate().for_each(|(part, value)| {
                _mm_stream_si128(to.add(part), value);
            });
        }
        let done = head + lines * LINE;
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
        // Such stores are not ordered with any others: without this a notice could become visible before them.
        _mm_sfence();
    }
}

/// Copies, in the portable version.
///
/// # Safety
/// Both places have `bytes` bytes.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller promises the same.
    unsafe { std::ptr::copy(from, to, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_long_once_it_is_and_when_it_begins_again() {
        let (runs, piece) = (Runs::default(), RUN_BYTES / 4);
        let at = |index: usize| 4096 + index * piece;
        let noted = |index: usize| runs.note(at(index), piece);
        assert_eq!([0, 1, 2, 3].map(noted), [false, false, false, true]);
        // From the beginning again: as long as before, or longer.
        assert_eq!([0, 1].map(noted), [true, true]);
        // At another place, and always at the same one.
        assert_eq!([9, 9, 9, 9, 9].map(noted), [false; 5]);
        assert!(runs.note(0, RUN_BYTES));
    }

    #[test]
    fn bytes_are_copied_at_any_address_and_length() {
        let source: Vec<u8> = (0..5000_u32).map(|at| (at * 31 % 251) as u8).collect();
        for (from, to, bytes) in [(0, 0, 4096), (3, 1, 4000), (7, 64, 200), (1, 63, 1), (5, 9, 0)] {
            let mut target = vec![255; 5000];
            // SAFETY: both vectors are long enough.
            unsafe {
                copy_past_caches(source.as_ptr().add(from), target.as_mut_ptr().add(to), bytes);
            }
            assert_eq!(target[to..to + bytes], source[from..from + bytes]);
            let outside = target[..to].iter().chain(&target[to + bytes..]);
            assert!(outside.into_iter().all(|&byte| byte == 255), "{from} {to} {bytes}");
        }
        let mut both: Vec<u8> = (0..200).collect();
        let start = both.as_mut_ptr();
        // SAFETY: within the vector; they overlap.
        unsafe { copy_past_caches(start, start.add(50), 150) };
        assert_eq!(both[50..], (0..150).collect::<Vec<u8>>());
    }
}
