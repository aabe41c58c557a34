//! Reductions for fabrics that combine elements themselves.

use contract::{Combine, Element, Operation};

use super::apply::{apply_at, apply_to_dense};
use crate::datatype::{Datatype, Kind};
use crate::memory::Memory;
use crate::operation::predefined::Predefined;
use crate::operation::reduction::Reduction;

/// The contract's name of a reduction, where it has one.
fn known(op: Predefined, of: &Datatype) -> Option<contract::Reduction> {
    let element = match of.only_kind()? {
        Kind::Unsigned(1) => Element::U8,
        Kind::Signed(4) => Element::I32,
        Kind::Signed(8) | Kind::Long => Element::I64,
        Kind::Unsigned(8) | Kind::UnsignedLong => Element::U64,
        Kind::Float(4) => Element::F32,
        Kind::Float(8) => Element::F64,
        _ => return None,
    };
    let operation = match op {
        Predefined::Sum => Operation::Sum,
        Predefined::Product => Operation::Product,
        Predefined::Minimum => Operation::Minimum,
        Predefined::Maximum => Operation::Maximum,
        _ => return None,
    };
    Some(contract::Reduction::new(element, operation))
}

impl Reduction {
    /// Calls `with` with this reduction as fabrics take it. None, and no call, for elements with gaps and for those that
    /// are too long for a fabric.
    #[inline]
    pub fn with_combine<R>(&self, with: impl FnOnce(Combine<'_>) -> R) -> Option<R> {
        let element_bytes = self.of().size().max(1) as usize;
        if !self.of().is_dense() || element_bytes > Combine::LONGEST_ELEMENT {
            return None;
        }
        let reduction = self.operation().predefined().and_then(|op| known(op, self.of()));
        let mut apply = |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            // SAFETY: the fabric gives as many bytes of whole elements in each place.
            unsafe { self.apply_to(left, right, result, (bytes / element_bytes) as i64) };
        };
        Some(with(Combine { element_bytes, reduction, apply: &mut apply }))
    }

    /// result = left op right for elements without gaps; the result may take the place of the right ones.
    ///
    /// # Safety
    /// All are `count` elements of the datatype.
    unsafe fn apply_to(&self, left: *const u8, right: *const u8, result: *mut u8, count: i64) {
        use Predefined::{MaximumAt, MinimumAt, Nothing};
        let predefined = self.operation().predefined();
        if let Some(op) = predefined
            && !matches!(op, Nothing | MinimumAt | MaximumAt)
        {
            return apply_to_dense(op, self.of(), left, right, result, count);
        }
        if right != result.cast_const() {
            std::ptr::copy(right, result, (count * self.of().size()) as usize);
        }
        match predefined {
            Some(op) => apply_at(op, self.of(), left, result, count),
            None => {
                let elements = |start| Memory::unchecked(start, count, self.of().clone());
                self.apply(&elements(left), &elements(result.cast_const()));
            }
        }
    }
}
