//! The shortest way for operations on plain data that this process sees: no object is made, cloned or counted.
//!
//! Whatever is out of the ordinary, wrong arguments too, is left to the general way: then nothing has happened.

use std::ptr::NonNull;

use contract::{Action, Endpoint};

use super::Window;
use crate::datatype::{Construction, Datatype};
use crate::operation::{Coded, HAS_LONG_DOUBLE, Predefined};

impl<E: Endpoint + 'static> Window<E> {
    /// Where `bytes` bytes lie that an operation of plain data touches, if this process sees them and nothing is wrong.
    #[inline(always)]
    pub fn reach_plainly(
        &self,
        rank: usize,
        displacement: i64,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        if !self.epochs.is_open(rank) {
            return None;
        }
        let offset = displacement.checked_mul(*self.units.get(rank)?)?;
        let offset = u64::try_from(offset).ok()?;
        self.service.with(|window| window.here(rank, offset, bytes as u64))?
    }

    /// Where `displacement` is in a member's memory, in bytes, if operations on it are allowed.
    #[inline(always)]
    fn place_plainly(&self, rank: usize, displacement: i64) -> Option<(usize, u64)> {
        if !self.epochs.is_open(rank) {
            return None;
        }
        let offset = displacement.checked_mul(*self.units.get(rank)?)?;
        Some((rank, u64::try_from(offset).ok()?))
    }

    /// Accumulates plain elements, and gives what was there to `fetched`, if nothing is in the way; false if something is.
    #[inline]
    pub fn accumulate_plainly(
        &self,
        (op, of): (Predefined, &Datatype),
        (rank, displacement): (usize, i64),
        operand: &[u8],
        fetched: Option<&mut [u8]>,
    ) -> bool {
        let Construction::Basic(kind) = *of.made() else { return false };
        if !op.applies(of, HAS_LONG_DOUBLE) {
            return false;
        }
        let Some(place) = self.place_plainly(rank, displacement) else { return false };
        let action = Action::Combine(Coded::basic(op, kind).code());
        let update =
            |window: &contract::Window| window.update_at_once(place, action, operand, fetched);
        self.service.with(update).unwrap_or(false)
    }

    /// Compares and swaps one integer, and gives what was there to `fetched`, likewise.
    #[inline]
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
        let action = Action::CompareAndSwap(Coded::basic(Predefined::Replace, kind).code());
        let update = |window: &contract::Window| {
            window.update_at_once(place, action, compare_and_new, Some(fetched))
        };
        self.service.with(update).unwrap_or(false)
    }
}
