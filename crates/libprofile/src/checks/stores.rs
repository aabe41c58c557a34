//! The program's own stores to the memory of its windows, between its calls.
//!
//! Other ranks' accesses change that memory only in calls of its owner, because they go by messages while windows are
//! checked. So what has changed from the end of one call to the beginning of the next was stored by the program.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::abi::Win;

/// Longest memory of a window that is compared at every call, in bytes.
const BYTES_MAX: usize = 1 << 16;
/// Maximum number of pieces of a window that are reported at once.
const PIECES_MAX: usize = 16;

/// Bytes of a window that the program has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) win: Win,
    /// First byte, from the beginning of the window.
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// The memory of this rank's windows.
pub(crate) struct Stores {
    /// All memory of the process: the program may have unmapped a window's, which must not end it here.
    memory: Option<File>,
    windows: Vec<Owned>,
}

/// Memory of a window, and its contents at the end of the last call.
struct Owned {
    win: Win,
    start: u64,
    last: Vec<u8>,
    now: Vec<u8>,
}

impl Stores {
    pub(crate) fn new() -> Self {
        Stores { memory: File::open("/proc/self/mem").ok(), windows: Vec::new() }
    }

    /// Returns whether no window is compared.
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.windows.is_empty()
    }

    /// Adds the memory of a window, unless it is long.
    pub(crate) fn add(&mut self, win: Win, start: usize, bytes: usize) {
        if (1..=BYTES_MAX).contains(&bytes) {
            let (last, now) = (vec![0; bytes], vec![0; bytes]);
            self.windows.push(Owned { win, start: start as u64, last, now });
        }
    }

    pub(crate) fn remove(&mut self, win: Win) {
        self.windows.retain(|one| one.win != win);
    }

    /// Returns what the program has changed since the last call.
    pub(crate) fn changed(&mut self) -> Vec<Stored> {
        let mut changed = Vec::new();
        self.read(|one| {
            let Owned { win, last, now, .. } = one;
            changed.extend(pieces(last, now).map(|(offset, bytes)| Stored {
                win: *win,
                offset,
                bytes,
            }));
        });
        changed
    }

    /// Remembers the memory at the end of a call.
    pub(crate) fn remember(&mut self) {
        self.read(|one| std::mem::swap(&mut one.last, &mut one.now));
    }

    /// Reads the memory of all windows. What cannot be read is not compared any more.
    fn read(&mut self, mut then: impl FnMut(&mut Owned)) {
        let memory = self.memory.as_ref();
        self.windows.retain_mut(|one| {
            let is_read =
                memory.is_some_and(|file| file.read_exact_at(&mut one.now, one.start).is_ok());
            if is_read {
                then(one);
            }
            is_read
        });
    }
}

/// Returns the pieces in which two contents differ, as offset and length.
fn pieces<'a>(last: &'a [u8], now: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += differing(&last[at..], &now[at..])?;
        let same = last[at..].iter().zip(&now[at..]).position(|(last, now)| last == now);
        let (offset, bytes) = (at, same.unwrap_or(last.len() - at));
        at += bytes;
        Some((offset, bytes))
    })
    .take(PIECES_MAX)
}

/// Returns the place of the first byte in which two contents differ.
fn differing(last: &[u8], now: &[u8]) -> Option<usize> {
    // Comparing slices as a whole is much faster than comparing their bytes.
    const STEP: usize = 256;
    let step = last.chunks(STEP).zip(now.chunks(STEP)).position(|(last, now)| last != now)?;
    let from = step * STEP;
    let byte = last[from..].iter().zip(&now[from..]).position(|(last, now)| last != now)?;
    Some(from + byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_bytes_that_differ_are_found() {
        let last = [7_u8; 1000];
        let mut now = last;
        assert_eq!(pieces(&last, &now).count(), 0);
        now[0] = 1;
        now[299..302].fill(2);
        now[303] = 3;
        now[998..].fill(4);
        let found: Vec<_> = pieces(&last, &now).collect();
        assert_eq!(found, [(0, 1), (299, 3), (303, 1), (998, 2)]);
    }

    #[test]
    fn stores_between_calls_are_found_and_changes_in_calls_are_not() {
        let mut memory = [0_u8; 64];
        let mut stores = Stores::new();
        stores.add(5, memory.as_ptr() as usize, memory.len());
        stores.remember();
        std::hint::black_box(&mut memory)[8] = 1;
        assert_eq!(stores.changed(), [Stored { win: 5, offset: 8, bytes: 1 }]);
        std::hint::black_box(&mut memory)[9] = 1;
        stores.remember();
        assert_eq!(stores.changed(), []);
        stores.remove(5);
        assert!(stores.are_none());
    }

    #[test]
    fn memory_that_is_gone_is_compared_no_more() {
        let mut stores = Stores::new();
        // No process has memory at its first page.
        stores.add(5, 16, 8);
        stores.add(6, 16, BYTES_MAX + 1);
        stores.remember();
        assert!(stores.are_none());
    }
}
