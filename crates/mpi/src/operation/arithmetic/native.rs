//! Reductions for fabrics that combine elements themselves.

use collectives::ReductionId;
use contract::{Apply, Combine};

use super::apply::{apply_at, apply_to_dense};
use crate::datatype::{Datatype, Kind};
use crate::memory::Memory;
use crate::operation::predefined::Predefined;
use crate::operation::reduction::Reduction;

/// Returns the number of an element in call ids, or 0 for one that is not compared.
#[inline]
fn element_number(of: &Datatype) -> usize {
    let Some(kind) = of.only_kind() else { return 0 };
    match kind.as_number() {
        Kind::Unsigned(1) | Kind::Byte => 1,
        Kind::Signed(4) => 2,
        Kind::Signed(8) => 3,
        Kind::Unsigned(8) => 4,
        Kind::Float(4) => 5,
        Kind::Float(8) => 6,
        Kind::Signed(1) => 7,
        Kind::Signed(2) => 8,
        Kind::Unsigned(2) => 9,
        Kind::Unsigned(4) => 10,
        Kind::LongDouble => 11,
        Kind::Complex(4) => 12,
        Kind::Complex(8) => 13,
        Kind::ComplexLongDouble => 14,
        Kind::Logical(_) => 15,
        _ => 0,
    }
}

/// Number in call ids of the operations of programs, which follow the predefined ones.
const OF_PROGRAM: usize = Predefined::ALL.len() + 1;

impl Reduction {
    /// Returns the reduction as members of a collective compare it.
    #[inline]
    pub(crate) fn id(&self) -> ReductionId {
        // The order of the operations is that of their numbers, which begin with 1.
        let operation = self.operation().predefined().map_or(OF_PROGRAM, |op| 1 + op as usize);
        ReductionId::new(operation, element_number(self.of()))
    }

    /// Returns a function for fabrics that combines elements: the left and the right ones into the result's place, for
    /// a number of bytes. Only fabrics may call it. `None` for elements with gaps and for those that are too long for a
    /// fabric.
    #[inline(always)]
    pub(crate) fn applied(&self) -> Option<impl FnMut(*const u8, *const u8, *mut u8, usize)> {
        let element_bytes = self.of().size().max(1) as usize;
        if !self.of().is_dense() || element_bytes > Combine::LONGEST_ELEMENT {
            return None;
        }
        Some(move |left: *const u8, right: *const u8, result: *mut u8, bytes: usize| {
            // SAFETY: the fabric gives as many bytes of whole elements in each place.
            unsafe { self.apply_to(left, right, result, (bytes / element_bytes) as i64) };
        })
    }

    /// Returns this reduction in the form for fabrics, with the function that [`applied`](Reduction::applied) returned.
    #[inline(always)]
    pub(crate) fn combine<'a>(&self, apply: &'a mut Apply<'a>) -> Combine<'a> {
        let element_bytes = self.of().size().max(1) as usize;
        Combine { element_bytes, id: self.id(), apply }
    }

    /// Computes result = left op right for elements without gaps; the result may replace the right operand.
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::datatype::Unit;
    use crate::operation::reduction::Operation as How;

    /// Returns different bytes, also in the exponents of numbers.
    fn bytes(seed: u8, count: usize) -> Vec<u8> {
        (0..count).map(|index| (index as u8).wrapping_mul(37).wrapping_add(seed) & 0x7f).collect()
    }

    /// Computes both results from as many bytes; the second into another place.
    fn both(reduction: &Reduction, count: usize) -> (Vec<u8>, Option<Vec<u8>>) {
        let of = reduction.of();
        let size = of.size() as usize * count;
        let (left, right) = (bytes(3, size), bytes(90, size));
        let mut combined = right.clone();
        // SAFETY: both are as many elements, which nobody else uses.
        let [input, inout] = unsafe {
            [
                Memory::unchecked(left.as_ptr(), count as i64, of.clone()),
                Memory::unchecked(combined.as_mut_ptr(), count as i64, of.clone()),
            ]
        };
        reduction.apply(&input, &inout);
        let natively = reduction.applied().map(|mut apply| {
            let mut result = vec![0; size];
            apply(left.as_ptr(), right.as_ptr(), result.as_mut_ptr(), size);
            result
        });
        (combined, natively)
    }

    #[test]
    fn fabrics_compute_the_same_results_as_programs() {
        for kind in [
            Kind::Signed(4),
            Kind::Unsigned(1),
            Kind::Float(8),
            Kind::Complex(4),
            Kind::Byte,
            Kind::Logical(2),
        ] {
            let of = Datatype::basic(kind);
            for op in Predefined::ALL {
                let Ok(reduction) = Reduction::new(Rc::new(op.into()), of.clone()) else {
                    continue;
                };
                for count in [1, 5, 900] {
                    let (combined, natively) = both(&reduction, count);
                    assert_eq!(natively, Some(combined), "{op:?} of {count} {kind:?}");
                }
            }
        }
        let pair = Datatype::pair(Kind::Signed(4), Kind::Signed(4));
        let less = Reduction::new(Rc::new(Predefined::MinimumAt.into()), pair).unwrap();
        let (combined, natively) = both(&less, 9);
        assert_eq!(natively, Some(combined));
        let shift = How::of_elements(false, |left: u16, right: u16| left.wrapping_shl(3) ^ right);
        let shift = Reduction::new(Rc::new(shift), Datatype::basic(Kind::Unsigned(2))).unwrap();
        let (combined, natively) = both(&shift, 9);
        assert_eq!(natively, Some(combined));
    }

    #[test]
    fn elements_with_gaps_and_long_ones_are_not_for_fabrics() {
        let byte = Datatype::basic(Kind::Byte);
        let gapped = Datatype::vector(2, 1, 2, Unit::Elements, &byte).unwrap();
        let longest = Combine::LONGEST_ELEMENT as i64;
        let [fits, long] = [longest, longest + 1].map(|count| Datatype::contiguous(count, &byte));
        for (of, expected) in [(gapped, false), (fits.unwrap(), true), (long.unwrap(), false)] {
            of.commit();
            let reduction = Reduction::new(Rc::new(Predefined::BitOr.into()), of).unwrap();
            assert_eq!(reduction.applied().is_some(), expected);
        }
    }

    #[test]
    fn reductions_are_named_to_the_fabric() {
        let of = |op: How, kind| {
            let of = Datatype::basic(kind);
            of.commit();
            Reduction::new(Rc::new(op), of).map(|one| one.id()).unwrap()
        };
        let words = |op: Predefined, kind| of(op.into(), kind).to_string();
        let sum = contract::Reduction::new(contract::Element::F64, contract::Operation::Sum);
        assert_eq!(of(Predefined::Sum.into(), Kind::Float(8)), sum.id());
        let short = of(Predefined::Sum.into(), Kind::Signed(2));
        assert_eq!(contract::Reduction::of_id(short), None);
        for (op, expected) in Predefined::ALL.into_iter().zip([
            "sum of",
            "product of",
            "minimum of",
            "maximum of",
            "bitwise and of",
            "bitwise or of",
            "bitwise exclusive or of",
            "logical and of",
            "logical or of",
            "logical exclusive or of",
        ]) {
            assert_eq!(words(op, Kind::Long), format!("{expected} 64-bit integers"));
        }
        let own = How::of_bytes(true, |_, _, _| {});
        assert_eq!(of(own, Kind::WideCharacter).to_string(), "the program's operation of elements");
    }
}
