//! Arenas: memory that one rank allocates and every other rank can access, so that either side copies a long message
//! once, without a system call.
//!
//! A program that wants this for its buffers sets [`SharedAllocator`] as its global allocator. The allocator behaves
//! like the system's until the process joins a run. From then on page-aligned and large allocations come from the
//! rank's arena in the segment, and all others still from the system. Memory outside the arena can be sent too, but
//! more slowly.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::system::PAGE_BYTES;

/// Smaller allocations without page alignment come from the system: pages are too coarse a unit for them.
const LARGE_BYTES: usize = 32 << 10;
/// Freed ranges of at least this length are returned to the system at once.
const RETURNED_BYTES: usize = 32 << 20;
/// Maximum number of free ranges that are remembered. Beyond it, freed memory is returned and its addresses are lost.
const MOST_FREE_RANGES: usize = 512;

/// A global allocator whose large allocations the other ranks of a run can access directly.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: launcher::SharedAllocator = launcher::SharedAllocator;
/// # fn main() {}
/// ```
pub struct SharedAllocator;

/// The arena of this process.
struct Arena {
    /// Address of the arena; 0 until the process has joined a run.
    base: AtomicUsize,
    bytes: AtomicUsize,
    locked: AtomicBool,
    ranges: UnsafeCell<Ranges>,
}

static ARENA: Arena = Arena {
    base: AtomicUsize::new(0),
    bytes: AtomicUsize::new(0),
    locked: AtomicBool::new(false),
    ranges: UnsafeCell::new(Ranges::new()),
};

// SAFETY: `ranges` is only accessed between `lock` and `unlock`; the rest is atomics.
unsafe impl Sync for Arena {}

/// Makes the `bytes` bytes at `base` this process's arena. They stay mapped until the process ends.
pub(crate) fn open(base: *mut u8, bytes: usize) {
    ARENA.bytes.store(bytes, Ordering::Relaxed);
    // Release, partner of the acquire in `Arena::base`: a thread that sees the base sees the size.
    ARENA.base.store(base as usize, Ordering::Release);
}

/// Allocates pages in the arena, with unspecified contents. Returns `None` without an arena or without room in it.
pub(crate) fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(bytes.max(1), PAGE_BYTES).ok()?;
    let (memory, _) = ARENA.allocate(layout)?;
    NonNull::new(memory)
}

/// Frees such pages.
///
/// # Safety
/// `memory` came from [`allocate`] with the same `bytes`, and nothing uses it any more.
pub(crate) unsafe fn free(memory: NonNull<u8>, bytes: usize) {
    ARENA.free(memory.as_ptr() as usize, bytes.max(1));
}

impl Arena {
    fn holds(&self, address: usize) -> bool {
        let base = self.base.load(Ordering::Acquire);
        base != 0 && address.wrapping_sub(base) < self.bytes.load(Ordering::Relaxed)
    }

    fn with<T>(&self, body: impl FnOnce(&mut Ranges) -> T) -> T {
        // Acquire and release, partners of each other: the next holder of the lock sees the changes to the ranges.
        while self.locked.swap(true, Ordering::Acquire) {
            spin_loop();
        }
        // SAFETY: the lock is ours, and `body` allocates nothing, so it cannot come here again.
        let result = body(unsafe { &mut *self.ranges.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// Allocates pages for `layout`. The flag says whether they may hold something else than zeros.
    fn allocate(&self, layout: Layout) -> Option<(*mut u8, bool)> {
        let base = self.base.load(Ordering::Acquire);
        let wanted = layout.align() >= PAGE_BYTES || layout.size() >= LARGE_BYTES;
        if base == 0 || !wanted || layout.size() == 0 || layout.align() > PAGE_BYTES {
            return None;
        }
        let pages = layout.size().div_ceil(PAGE_BYTES);
        let limit = self.bytes.load(Ordering::Relaxed) / PAGE_BYTES;
        let (first, used) = self.with(|ranges| ranges.take(pages, limit))?;
        Some(((base + first * PAGE_BYTES) as *mut u8, used))
    }

    fn free(&self, address: usize, bytes: usize) {
        let first = (address - self.base.load(Ordering::Acquire)) / PAGE_BYTES;
        let pages = bytes.div_ceil(PAGE_BYTES);
        let give_back = || {
            // SAFETY: the range was allocated from the arena and nothing uses it any more. An error only keeps the
            // memory.
            unsafe { libc::madvise(address as *mut _, pages * PAGE_BYTES, libc::MADV_REMOVE) };
        };
        if bytes >= RETURNED_BYTES {
            give_back();
        }
        if !self.with(|ranges| ranges.put(first, pages)) {
            give_back();
        }
    }
}

// SAFETY: memory comes either from the system's allocator or from the arena, which hands out each page once until it is
// freed; a block's address says which of the two it came from.
unsafe impl GlobalAlloc for SharedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match ARENA.allocate(layout) {
            Some((memory, _)) => memory,
            // SAFETY: as the caller promised.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match ARENA.allocate(layout) {
            Some((memory, used)) => {
                if used {
                    // SAFETY: the arena has just handed these bytes out.
                    unsafe { memory.write_bytes(0, layout.size()) };
                }
                memory
            }
            // SAFETY: as the caller promised.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if ARENA.holds(memory as usize) {
            ARENA.free(memory as usize, layout.size());
        } else {
            // SAFETY: as the caller promised, and it did not come from the arena.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if !ARENA.holds(memory as usize) {
            // A growing vector stays with the system, which moves its pages instead of copying them.
            // SAFETY: as the caller promised.
            return unsafe { System.realloc(memory, layout, bytes) };
        }
        // SAFETY: the caller promised a size that fits a layout; the old block is freed only after it was copied.
        unsafe {
            let larger = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
            if !larger.is_null() {
                std::ptr::copy_nonoverlapping(memory, larger, bytes.min(layout.size()));
                self.dealloc(memory, layout);
            }
            larger
        }
    }
}

/// The free pages: all from `top` on, and the ranges below it in ascending order, of which no two touch.
struct Ranges {
    free: [(usize, usize); MOST_FREE_RANGES],
    count: usize,
    top: usize,
    /// Pages from here on were never handed out and therefore hold zeros.
    untouched: usize,
}

impl Ranges {
    const fn new() -> Self {
        Ranges { free: [(0, 0); MOST_FREE_RANGES], count: 0, top: 0, untouched: 0 }
    }

    /// Takes the first place below `limit` where `pages` fit. The flag says whether it was used before.
    fn take(&mut self, pages: usize, limit: usize) -> Option<(usize, bool)> {
        let found = self.free[..self.count].iter().position(|&(_, size)| size >= pages);
        if let Some(index) = found {
            let (first, size) = self.free[index];
            if size == pages {
                self.remove(index);
            } else {
                self.free[index] = (first + pages, size - pages);
            }
            return Some((first, true));
        }
        let first = self.top;
        if pages > limit - first {
            return None;
        }
        let used = first < self.untouched;
        self.top += pages;
        self.untouched = self.untouched.max(self.top);
        Some((first, used))
    }

    /// Frees a range. Returns false if it cannot be remembered.
    fn put(&mut self, first: usize, pages: usize) -> bool {
        let index = self.free[..self.count].partition_point(|&(start, _)| start < first);
        let (mut first, mut end) = (first, first + pages);
        if index < self.count && self.free[index].0 == end {
            end += self.free[index].1;
            self.remove(index);
        }
        let before = index.checked_sub(1).map(|before| (before, self.free[before]));
        if let Some((before, (start, size))) = before
            && start + size == first
        {
            first = start;
            self.remove(before);
        }
        if end == self.top {
            self.top = first;
            return true;
        }
        self.insert(first, end - first)
    }

    fn insert(&mut self, first: usize, pages: usize) -> bool {
        if self.count == MOST_FREE_RANGES {
            return false;
        }
        let index = self.free[..self.count].partition_point(|&(start, _)| start < first);
        self.free.copy_within(index..self.count, index + 1);
        self.free[index] = (first, pages);
        self.count += 1;
        true
    }

    fn remove(&mut self, index: usize) {
        self.free.copy_within(index + 1..self.count, index);
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_allocations_never_overlap_and_free_memory_joins_again() {
        for seed in 1..20u64 {
            let mut state = seed;
            let mut random = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % below
            };
            let mut ranges = Ranges::new();
            // The model: the owner of each page.
            let mut owned = vec![false; 400];
            let mut held: Vec<(usize, usize)> = Vec::new();
            for _ in 0..2000 {
                if random(2) == 0 {
                    let pages = 1 + random(30);
                    if let Some((first, _)) = ranges.take(pages, 400) {
                        assert!(!owned[first..first + pages].contains(&true), "seed {seed}");
                        owned[first..first + pages].fill(true);
                        held.push((first, pages));
                    }
                } else if !held.is_empty() {
                    let (first, pages) = held.swap_remove(random(held.len()));
                    owned[first..first + pages].fill(false);
                    assert!(ranges.put(first, pages));
                }
            }
            for (first, pages) in held {
                ranges.put(first, pages);
            }
            assert_eq!((ranges.count, ranges.top), (0, 0), "seed {seed}");
        }
    }

    #[test]
    fn pages_are_known_to_be_fresh_only_the_first_time() {
        let mut ranges = Ranges::new();
        assert_eq!(ranges.take(3, 10), Some((0, false)));
        assert!(ranges.put(0, 3));
        assert_eq!(ranges.take(2, 10), Some((0, true)));
        assert_eq!(ranges.take(9, 10), None);
    }
}
