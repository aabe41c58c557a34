//! The fastest path of an update: one stretch that this process can access, and a free lock.

use std::ptr::NonNull;

use super::update::{are_words, swap, update_words};
use super::words::Manner;
use super::{Route, Window};

impl Window {
    /// Updates elements that this process can access, each atomically, if no other update interferes. Otherwise, or if
    /// the elements are not accessible here, returns false and has no effect. `make` computes the new values from as
    /// much operand; `word_bytes` is that of the elements ([`Arithmetic::word_bytes`](super::Arithmetic)). The old
    /// values go to `fetched`.
    #[inline(always)]
    pub fn combine_at_once(
        &self,
        place: (usize, u64),
        word_bytes: usize,
        operand: &[u8],
        fetched: Option<&mut [u8]>,
        make: impl Fn(&[u8], &mut [u8]),
    ) -> bool {
        self.update_at_once(place, (operand.len(), word_bytes), operand, fetched, make)
    }

    /// As [`combine_at_once`](Window::combine_at_once): replaces bytes that equal the first half of `both` by its
    /// second half.
    #[inline(always)]
    pub fn swap_at_once(
        &self,
        place: (usize, u64),
        word_bytes: usize,
        both: &[u8],
        fetched: &mut [u8],
    ) -> bool {
        self.update_at_once(place, (both.len() / 2, word_bytes), both, Some(fetched), swap)
    }

    #[inline(always)]
    fn update_at_once(
        &self,
        (target, offset): (usize, u64),
        (bytes, word_bytes): (usize, usize),
        operand: &[u8],
        fetched: Option<&mut [u8]>,
        make: impl Fn(&[u8], &mut [u8]),
    ) -> bool {
        let fits = fetched.as_ref().is_none_or(|room| room.len() == bytes);
        let Some(at) = self.here(target, offset, bytes as u64).filter(|_| fits) else {
            return false;
        };
        let one = &self.targets[target];
        let Some(control) = one.control.filter(|_| one.route != Route::Messages) else {
            return false;
        };
        // SAFETY: the block lasts as long as the window.
        let control = unsafe { control.as_ref() };
        let manner = match one.route == Route::Shared && are_words(word_bytes, at) {
            true => control.words().manner(self.me, &one.words, bytes),
            false => Manner::Whole,
        };
        if manner == Manner::Alone {
            // SAFETY: `here` returned as many bytes; all members update words of this memory by atomics.
            unsafe { update_words((at, bytes, word_bytes), operand, fetched, make) };
            return true;
        }
        if !control.try_lock_updates(self.me) {
            return false;
        }
        if manner == Manner::Locked {
            // SAFETY: as above; members that use no atomics wait for the lock.
            unsafe { update_words((at, bytes, word_bytes), operand, fetched, make) };
        } else {
            // SAFETY: `here` returned as many bytes, and no other member updates them, since this process holds the
            // lock.
            let target = unsafe { NonNull::slice_from_raw_parts(at, bytes).as_mut() };
            if let Some(fetched) = fetched {
                fetched.copy_from_slice(target);
            }
            make(operand, target);
        }
        control.unlock_updates();
        true
    }
}
