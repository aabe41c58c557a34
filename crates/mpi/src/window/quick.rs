//! The fastest path for operations on plain data that this process can access: no object is created, cloned or counted.
//!
//! Everything unusual, including wrong arguments, is left to the general path: then these functions have no effect.

use std::ptr::NonNull;

use contract::Endpoint;

use super::Window;
use crate::datatype::{Construction, Datatype};
use crate::operation::{CODED, Coded, HAS_LONG_DOUBLE, Predefined, short_reduction, word_bytes_of};

impl<E: Endpoint + 'static> Window<E> {
    /// Returns the location of the `bytes` bytes of a plain operation, if this process can access them and nothing is
    /// wrong.
    #[inline(always)]
    pub fn reach_plainly(
        &self,
        rank: usize,
        displacement: i64,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let (rank, offset) = self.place_plainly(rank, displacement)?;
        self.service.if_open().as_ref()?.here(rank, offset, bytes as u64)
    }

    /// Returns whether a copy to this address should use [`contract::copy_past_caches`].
    #[cold]
    pub fn is_of_long_run(&self, to: *const u8, bytes: usize) -> bool {
        self.service.if_open().as_ref().is_some_and(|window| window.is_of_long_run(to, bytes))
    }

    /// Returns the offset of `displacement` in a member's memory, in bytes, if operations on it are permitted.
    #[inline(always)]
    fn place_plainly(&self, rank: usize, displacement: i64) -> Option<(usize, u64)> {
        if !self.epochs.is_open(rank) || self.service.delivers_late() {
            return None;
        }
        let offset = displacement.checked_mul(*self.units.get(rank)?)?;
        Some((rank, u64::try_from(offset).ok()?))
    }

    /// Accumulates plain elements, and stores the previous values in `fetched`. Returns false if the fast path is not
    /// possible.
    #[inline(always)]
    pub fn accumulate_plainly(
        &self,
        (op, of): (Predefined, &Datatype),
        (rank, displacement): (usize, i64),
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> bool {
        let Construction::Basic(kind) = *of.made() else { return false };
        let Some(place) = self.place_plainly(rank, displacement) else { return false };
        let word_bytes = word_bytes_of(kind);
        let short = short_reduction(op, kind, operand.len());
        let window = self.service.if_open();
        let Some(window) = window.as_ref() else { return false };
        match short {
            Some(short) => {
                let make = |operand: &[u8], target: &mut [u8]| {
                    // Their lengths are equal and those of whole elements.
                    let _ = short.combine(target, operand);
                };
                window.combine_at_once(place, word_bytes, operand, fetched, make)
            }
            None if op.applies(of, HAS_LONG_DOUBLE) => {
                let code = Coded::basic(op, kind).code();
                let make = |operand: &[u8], target: &mut [u8]| {
                    (CODED.combine)(code, operand, target);
                };
                window.combine_at_once(place, word_bytes, operand, fetched, make)
            }
            None => false,
        }
    }

    /// Compares and swaps one integer in the same way.
    #[inline(always)]
    pub fn compare_and_swap_plainly(
        &self,
        of: &Datatype,
        (rank, displacement): (usize, i64),
        compare_and_new: &[u8],
        fetched: &mut [u8],
    ) -> bool {
        let Construction::Basic(kind) = *of.made() else { return false };
        if !super::operate::is_swapped(kind) {
            return false;
        }
        let Some(place) = self.place_plainly(rank, displacement) else { return false };
        let window = self.service.if_open();
        let Some(window) = window.as_ref() else { return false };
        window.swap_at_once(place, word_bytes_of(kind), compare_and_new, fetched)
    }
}
