//! The shortest way of an update: one stretch that this process sees, and a lock that is free.

use std::ptr::NonNull;

use super::update::{Action, update_words};
use super::words::Manner;
use super::{Route, Window};

impl Window {
    /// Carries out an atomic update of bytes that this process sees, if no other update is in the way; false if it does
    /// not, and then nothing has happened. The operand and `fetched` are as long as the action has it.
    #[inline]
    pub fn update_at_once(
        &self,
        (target, offset): (usize, u64),
        action: Action,
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> bool {
        let bytes = match action {
            Action::CompareAndSwap(_) => operand.len() / 2,
            _ => operand.len(),
        };
        let fits = action.is_atomic() && fetched.as_ref().is_none_or(|room| room.len() == bytes);
        let Some(at) = self.here(target, offset, bytes as u64).filter(|_| fits) else {
            return false;
        };
        let one = &self.targets[target];
        let Some(control) = one.control.filter(|_| one.route != Route::Asked) else { return false };
        // SAFETY: the block lasts as long as the window.
        let control = unsafe { control.as_ref() };
        let word_bytes = action.word_bytes(&self.arithmetic, at);
        let words = word_bytes
            .filter(|_| one.route == Route::Shared)
            .map(|word_bytes| (word_bytes, control.words().manner(self.me, &one.words, bytes)));
        if let Some((word_bytes, Manner::Alone)) = words {
            let how = (&self.arithmetic, action, word_bytes);
            // SAFETY: `here` gives as many bytes; all members update words of this memory by atomics.
            unsafe { update_words(how, at, bytes, operand, fetched) };
            return true;
        }
        if !control.try_lock_updates(self.me) {
            return false;
        }
        if let Some((word_bytes, Manner::Locked)) = words {
            let how = (&self.arithmetic, action, word_bytes);
            // SAFETY: as above; who does not waits for the lock.
            unsafe { update_words(how, at, bytes, operand, fetched) };
            control.unlock_updates();
            return true;
        }
        // SAFETY: `here` gives as many bytes, and nobody else updates them, since the lock is ours.
        let target = unsafe { NonNull::slice_from_raw_parts(at, bytes).as_mut() };
        if let Some(fetched) = fetched {
            fetched.copy_from_slice(target);
        }
        action.make(&self.arithmetic, operand, target);
        control.unlock_updates();
        true
    }
}
