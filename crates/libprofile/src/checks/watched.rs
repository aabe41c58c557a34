//! The check whether the program writes to memory that a message is received into.
//!
//! The message may arrive at any time, and on some fabrics without a call of this rank. But it changes each byte once
//! at most, and none beyond its end: a byte that changes twice, or beyond the end, was changed by the program.

use crate::region::Region;

/// Length in bytes above which receives are not checked.
const WATCHED_MAX_BYTES: usize = 1 << 20;

/// Number of calls after which a receive is compared only at calls with a power of two as their number.
const CALLS_COMPARED: u32 = 16;

/// The contents of a receive's memory so far.
pub(super) struct Watched {
    /// Contents when it was posted.
    first: Vec<u8>,
    /// Contents when it was last compared.
    last: Vec<u8>,
    /// Number of calls since it was posted.
    calls: u32,
    /// True if a byte has changed twice.
    is_changed: bool,
}

impl Watched {
    /// Begins the check of memory that a receive was just posted into. Returns `None` if the memory is too long or
    /// cannot be read.
    pub(super) fn new(region: &Region) -> Option<Self> {
        let bytes = region.bytes();
        if bytes == 0 || bytes > WATCHED_MAX_BYTES {
            return None;
        }
        let first = contents(region)?;
        Some(Watched { last: first.clone(), first, calls: 0, is_changed: false })
    }

    /// Compares the memory at the beginning of a call, which may wait for the receive.
    pub(super) fn call(&mut self, region: &Region, is_awaited: bool) {
        self.calls = self.calls.saturating_add(1);
        if is_awaited || self.calls <= CALLS_COMPARED || self.calls.is_power_of_two() {
            self.compare(region);
        }
    }

    fn compare(&mut self, region: &Region) {
        let Some(now) = contents(region).filter(|now| *now != self.last) else { return };
        let all = self.first.iter().zip(&self.last).zip(&now);
        self.is_changed |= all.into_iter().any(|((first, last), now)| last != now && last != first);
        self.last = now;
    }

    /// Returns whether the program has written to the memory before the receive ended with a message of `received`
    /// bytes.
    pub(super) fn was_changed(&mut self, region: &Region, received: usize) -> bool {
        self.compare(region);
        let beyond =
            if region.is_contiguous() { received.min(self.first.len()) } else { usize::MAX };
        let changed_beyond = self.first.get(beyond..) != self.last.get(beyond..);
        self.is_changed || changed_beyond
    }
}

fn contents(region: &Region) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(region.bytes());
    region.read(|block| bytes.extend_from_slice(block)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: usize, bytes: usize) -> Region {
        Region::new(std::iter::once(start..start + bytes).collect())
    }

    /// Writes the bytes of `steps`, and watches the six bytes from the second on. Returns whether the program is found
    /// to have written to them.
    fn changed(steps: &[(usize, u8)], received: usize) -> bool {
        let mut memory = vec![0_u8; 8];
        let at = memory.as_mut_ptr();
        let region = region(at as usize + 1, 6);
        let mut watched = Watched::new(&region).unwrap();
        for &(index, value) in steps {
            // SAFETY: the index is below the length.
            unsafe { at.add(index).write(value) };
            watched.call(&region, true);
        }
        watched.was_changed(&region, received)
    }

    #[test]
    fn a_message_that_comes_in_parts_is_no_change_by_the_program() {
        assert!(!changed(&[], 6));
        assert!(!changed(&[(1, 5), (2, 6), (6, 7)], 6));
        // The neighbouring bytes are not watched.
        assert!(!changed(&[(0, 5), (0, 6), (7, 7)], 0));
    }

    #[test]
    fn a_byte_that_changes_twice_or_beyond_the_message_was_changed_by_the_program() {
        assert!(changed(&[(3, 5), (3, 6)], 6));
        assert!(changed(&[(3, 5), (1, 1), (3, 0)], 6));
        assert!(changed(&[(6, 5)], 5));
        assert!(!changed(&[(6, 5)], usize::MAX));
    }

    #[test]
    fn calls_that_do_not_wait_are_compared_less_and_less_often() {
        let mut memory = vec![0_u8; 4];
        let at = memory.as_mut_ptr();
        let region = region(at as usize, 4);
        let mut watched = Watched::new(&region).unwrap();
        (0..CALLS_COMPARED).for_each(|_| watched.call(&region, false));
        // SAFETY: it is the first byte of the memory.
        unsafe { at.write(1) };
        watched.call(&region, false);
        assert_eq!(watched.last, [0; 4], "call {} is not compared", CALLS_COMPARED + 1);
        (0..CALLS_COMPARED).for_each(|_| watched.call(&region, false));
        assert_eq!(watched.last, [1, 0, 0, 0], "call {} is compared", 2 * CALLS_COMPARED);
    }
}
