//! The free memory of a node's segments.

use super::layout::ALIGNMENT;

/// The free parts, in order. No two of them touch.
#[derive(Debug)]
pub(super) struct Pool {
    free: Vec<(usize, usize)>,
}

impl Pool {
    /// Creates a pool of `bytes` free bytes from `start` on.
    pub(super) fn new(start: usize, bytes: usize) -> Self {
        Pool { free: if bytes == 0 { vec![] } else { vec![(start, bytes)] } }
    }

    /// Returns the length of the longest free part.
    pub(super) fn longest(&self) -> usize {
        self.free.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0)
    }

    /// Returns the number of free bytes.
    pub(super) fn free_bytes(&self) -> usize {
        self.free.iter().map(|&(_, bytes)| bytes).sum()
    }

    /// Takes the first part that is long enough. Returns its beginning.
    pub(super) fn take(&mut self, bytes: usize) -> Option<usize> {
        let bytes = taken(bytes)?;
        let index = self.free.iter().position(|&(_, free)| free >= bytes)?;
        let (start, free) = self.free[index];
        if free == bytes {
            self.free.remove(index);
        } else {
            self.free[index] = (start + bytes, free - bytes);
        }
        Some(start)
    }

    /// Returns a part that [`take`](Pool::take) returned for the same number of bytes.
    pub(super) fn give_back(&mut self, start: usize, bytes: usize) {
        let Some(mut bytes) = taken(bytes) else { return };
        let mut index = self.free.partition_point(|&(other, _)| other < start);
        let mut start = start;
        if self.free.get(index).is_some_and(|&(next, _)| next == start + bytes) {
            bytes += self.free.remove(index).1;
        }
        if index > 0 && self.free[index - 1].0 + self.free[index - 1].1 == start {
            index -= 1;
            let before = self.free.remove(index);
            (start, bytes) = (before.0, before.1 + bytes);
        }
        self.free.insert(index, (start, bytes));
    }
}

/// Returns the space that a segment of `bytes` bytes takes.
fn taken(bytes: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_come_back_become_one_again() {
        let mut pool = Pool::new(128, 1024);
        let parts = [1, 64, 65, 200].map(|bytes| (pool.take(bytes).unwrap(), bytes));
        // Each begins at the end of the one before, rounded up to cache lines.
        assert_eq!(parts.map(|(start, _)| start), [128, 192, 256, 384]);
        // 64, 64, 128 and 256 bytes are taken.
        assert_eq!((pool.longest(), pool.take(513)), (512, None));
        assert_eq!(pool.take(usize::MAX), None);
        for index in [1, 3, 0, 2] {
            pool.give_back(parts[index].0, parts[index].1);
        }
        assert_eq!(pool.free, [(128, 1024)]);
        assert_eq!(pool.take(1024), Some(128));
        assert_eq!((pool.longest(), pool.free_bytes()), (0, 0));
    }

    #[test]
    fn an_empty_pool_gives_nothing() {
        assert_eq!(Pool::new(0, 0).take(0), None);
    }
}
