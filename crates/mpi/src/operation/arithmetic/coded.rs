//! Operations on elements of windows, encoded as numbers that are sent to the executing process.

use std::rc::Rc;

use contract::{Arithmetic, AtomicElement, AtomicOperation, Element, Operation, Reduction};

use super::apply::apply_at;
use super::each::Places;
use super::run::apply_to_run;
use crate::datatype::{Datatype, Kind};
use crate::operation::predefined::Predefined;

/// An operation on elements of a window, and their kind. The number holds 8 bits of operation, 8 of kind, and for pairs
/// 8 of the index's kind.
#[derive(Clone, Debug)]
pub(crate) struct Coded {
    op: Predefined,
    kind: Kind,
    index: Option<Kind>,
}

/// The functions that carry out operations with these numbers.
pub(crate) const CODED: Arithmetic = Arithmetic { combine, word_bytes, atomic };

impl Coded {
    /// Creates an operation on elements of a datatype; elements without a kind of their own are bytes.
    pub(crate) fn new(op: Predefined, of: &Datatype) -> Self {
        let is_of_pairs = matches!(op, Predefined::MinimumAt | Predefined::MaximumAt);
        match of.only_pair() {
            Some((kind, index)) if is_of_pairs => Coded { op, kind, index: Some(index) },
            // As bytes, which are updated under the lock that the other operations on pairs take. As pairs, what
            // replaces them would overwrite their gaps.
            Some(_) => Coded { op, kind: Kind::Byte, index: None },
            None => Coded { op, kind: of.only_kind().unwrap_or(Kind::Byte), index: None },
        }
    }

    /// Creates an operation on basic elements.
    #[inline]
    pub(crate) fn basic(op: Predefined, kind: Kind) -> Self {
        Coded { op, kind, index: None }
    }

    /// Returns the datatype of an element, if it has gaps.
    pub(crate) fn pair(&self) -> Option<Rc<Datatype>> {
        self.index.map(|index| Datatype::pair(self.kind, index))
    }

    /// Returns it as a number.
    #[inline]
    pub(crate) fn code(&self) -> u32 {
        // The order of the list is that of the operations; a test checks that.
        let op = self.op as u32;
        let index = self.index.map_or(0, |index| u32::from(number(index)));
        index << 16 | u32::from(number(self.kind)) << 8 | op
    }

    fn read(code: u32) -> Option<Self> {
        let op = *Predefined::ALL.get((code & 0xff) as usize)?;
        let kind = kind((code >> 8) as u8)?;
        let index = kind_or_none((code >> 16) as u8)?;
        Some(Coded { op, kind, index })
    }
}

/// Returns the number of a kind, which is never 0: in the upper half the sort, in the lower half the width's power of
/// two.
#[inline]
fn number(kind: Kind) -> u8 {
    let of_width = |sort: u8, width: u8| sort << 4 | width.trailing_zeros() as u8;
    match kind {
        Kind::Long => 0x01,
        Kind::UnsignedLong => 0x02,
        Kind::LongDouble => 0x03,
        Kind::ComplexLongDouble => 0x04,
        Kind::Char => 0x05,
        Kind::WideCharacter => 0x06,
        Kind::Byte => 0x07,
        Kind::Packed => 0x08,
        Kind::Signed(width) => of_width(1, width),
        Kind::Unsigned(width) => of_width(2, width),
        Kind::Float(width) => of_width(3, width),
        Kind::Complex(width) => of_width(4, width),
        Kind::Logical(width) => of_width(5, width),
        Kind::Character(width) => of_width(6, width),
    }
}

#[inline]
fn kind(number: u8) -> Option<Kind> {
    let width = 1 << (number & 7);
    Some(match (number >> 4, number & 0xf) {
        (0, 1) => Kind::Long,
        (0, 2) => Kind::UnsignedLong,
        (0, 3) => Kind::LongDouble,
        (0, 4) => Kind::ComplexLongDouble,
        (0, 5) => Kind::Char,
        (0, 6) => Kind::WideCharacter,
        (0, 7) => Kind::Byte,
        (0, 8) => Kind::Packed,
        (1, _) => Kind::Signed(width),
        (2, _) => Kind::Unsigned(width),
        (3, _) => Kind::Float(width),
        (4, _) => Kind::Complex(width),
        (5, _) => Kind::Logical(width),
        (6, _) => Kind::Character(width),
        _ => return None,
    })
}

fn kind_or_none(number: u8) -> Option<Option<Kind>> {
    if number == 0 { Some(None) } else { kind(number).map(Some) }
}

/// Length up to which the contract's arithmetic is faster: it knows that the two do not overlap, and does not check for
/// wider vectors.
const SHORT_BYTES: usize = 512;

/// Returns the contract's reduction for an operation on `bytes` bytes of elements without gaps, if there is one and it
/// is faster.
#[inline(always)]
pub(crate) fn short_reduction(op: Predefined, kind: Kind, bytes: usize) -> Option<Reduction> {
    if bytes <= SHORT_BYTES { plain(op, kind) } else { None }
}

/// Returns the contract's reduction for an operation on elements without gaps, if there is one.
#[inline]
fn plain(op: Predefined, kind: Kind) -> Option<Reduction> {
    use Predefined::{Maximum, Minimum, Product, Sum};
    let operation = match op {
        Sum => Operation::Sum,
        Product => Operation::Product,
        Minimum => Operation::Minimum,
        Maximum => Operation::Maximum,
        _ => return None,
    };
    let wraps = matches!(op, Sum | Product);
    let element = match kind.as_number() {
        Kind::Unsigned(1) => Element::U8,
        Kind::Signed(1) if wraps => Element::U8,
        Kind::Signed(4) => Element::I32,
        Kind::Unsigned(4) if wraps => Element::I32,
        Kind::Signed(8) => Element::I64,
        Kind::Unsigned(8) => Element::U64,
        Kind::Float(4) => Element::F32,
        Kind::Float(8) => Element::F64,
        _ => return None,
    };
    Some(Reduction::new(element, operation))
}

/// Computes `target` = `operand` op `target`, for as many whole elements as both have.
fn combine(code: u32, operand: &[u8], target: &mut [u8]) {
    let Some(coded) = Coded::read(code) else { return };
    if coded.index.is_none()
        && let Some(short) = short_reduction(coded.op, coded.kind, target.len())
        && short.combine(target, operand).is_ok()
    {
        return;
    }
    let bytes = operand.len().min(target.len()) as i64;
    let (left, right) = (operand.as_ptr(), target.as_mut_ptr());
    // SAFETY: both have as many whole elements.
    unsafe {
        match (coded.op, coded.pair()) {
            (Predefined::Nothing, _) => {}
            (Predefined::Replace, _) => std::ptr::copy(left, right, bytes as usize),
            (op, Some(pair)) => apply_at(op, &pair, left, right, bytes / pair.extent()),
            (op, None) => {
                let count = bytes / coded.kind.bytes();
                apply_to_run(op, coded.kind, Places { left, right, result: right, count });
            }
        }
    }
}

/// Returns the length of elements that processors update atomically, otherwise 0.
#[inline(always)]
pub(crate) fn word_bytes_of(kind: Kind) -> usize {
    match kind.as_number() {
        Kind::Signed(4) | Kind::Unsigned(4) | Kind::Logical(4) => 4,
        Kind::Signed(8) | Kind::Unsigned(8) | Kind::Logical(8) => 8,
        _ => 0,
    }
}

fn word_bytes(code: u32) -> usize {
    let kind = kind((code >> 8) as u8).filter(|_| code >> 16 == 0);
    kind.map_or(0, word_bytes_of)
}

/// Returns the elements and the operation of a code, if networks have them. Bytes and truth values are not among the
/// elements: bytes stand for the elements of pairs as well, and networks do not update pairs.
fn atomic(code: u32) -> Option<(AtomicElement, AtomicOperation)> {
    use Predefined as Op;
    let Coded { op, kind, index: None } = Coded::read(code)? else { return None };
    let element = match kind.as_number() {
        Kind::Signed(1) => AtomicElement::I8,
        Kind::Unsigned(1) => AtomicElement::U8,
        Kind::Signed(2) => AtomicElement::I16,
        Kind::Unsigned(2) => AtomicElement::U16,
        Kind::Signed(4) => AtomicElement::I32,
        Kind::Unsigned(4) => AtomicElement::U32,
        Kind::Signed(8) => AtomicElement::I64,
        Kind::Unsigned(8) => AtomicElement::U64,
        Kind::Float(4) => AtomicElement::F32,
        Kind::Float(8) => AtomicElement::F64,
        _ => return None,
    };
    let operation = match op {
        Op::Minimum => AtomicOperation::Minimum,
        Op::Maximum => AtomicOperation::Maximum,
        Op::Sum => AtomicOperation::Sum,
        Op::Product => AtomicOperation::Product,
        Op::Or => AtomicOperation::LogicalOr,
        Op::And => AtomicOperation::LogicalAnd,
        Op::Xor => AtomicOperation::LogicalXor,
        Op::BitOr => AtomicOperation::BitOr,
        Op::BitAnd => AtomicOperation::BitAnd,
        Op::BitXor => AtomicOperation::BitXor,
        Op::Nothing => AtomicOperation::Read,
        Op::Replace => AtomicOperation::Write,
        _ => return None,
    };
    Some((element, operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_on_every_element_has_a_number_of_its_own() {
        let widths = [1, 2, 4, 8, 16];
        let of_width = [
            Kind::Signed,
            Kind::Unsigned,
            Kind::Float,
            Kind::Complex,
            Kind::Logical,
            Kind::Character,
        ];
        let mut kinds: Vec<Kind> =
            of_width.iter().flat_map(|of| widths.iter().map(|&width| of(width))).collect();
        kinds.extend([Kind::Long, Kind::UnsignedLong, Kind::LongDouble, Kind::ComplexLongDouble]);
        kinds.extend([Kind::Char, Kind::WideCharacter, Kind::Byte, Kind::Packed]);
        for kind in kinds {
            for index in [None, Some(Kind::Signed(4))] {
                for (number, op) in Predefined::ALL.into_iter().enumerate() {
                    assert_eq!(op as usize, number);
                    let coded = Coded { op, kind, index };
                    let again = Coded::read(coded.code()).unwrap();
                    assert_eq!((again.op, again.kind, again.index), (op, kind, index));
                }
            }
        }
        assert!(Coded::read(0xff).is_none() && Coded::read(0x0900).is_none());
    }

    #[test]
    fn short_elements_are_combined_as_long_ones_are() {
        let kinds = [Kind::Char, Kind::Signed(1), Kind::Unsigned(1), Kind::Byte, Kind::Signed(4)];
        let more = [Kind::Unsigned(4), Kind::Signed(8), Kind::UnsignedLong, Kind::Float(4)];
        for kind in kinds.into_iter().chain(more).chain([Kind::Float(8)]) {
            for op in Predefined::ALL.into_iter().filter(|op| op.commutes()) {
                let code = Coded { op, kind, index: None }.code();
                let bytes = |seed: usize| -> Vec<u8> {
                    (0..2 * SHORT_BYTES).map(|at| ((at * 37 + seed) % 120) as u8).collect()
                };
                let (operand, mut long) = (bytes(5), bytes(11));
                let mut short = long.clone();
                combine(code, &operand, &mut long);
                for (part, place) in operand.chunks(SHORT_BYTES).zip(short.chunks_mut(SHORT_BYTES))
                {
                    combine(code, part, place);
                }
                assert_eq!(short, long, "{op:?} of {kind:?}");
            }
        }
    }

    #[test]
    fn processors_update_integers_of_four_and_eight_bytes() {
        let bytes = |kind| word_bytes(Coded { op: Predefined::Sum, kind, index: None }.code());
        assert_eq!([Kind::Signed(4), Kind::Long, Kind::Logical(8)].map(bytes), [4, 8, 8]);
        assert_eq!([Kind::Float(8), Kind::Signed(2), Kind::Byte].map(bytes), [0, 0, 0]);
        let pair = Datatype::pair(Kind::Signed(4), Kind::Signed(4));
        assert_eq!(word_bytes(Coded::new(Predefined::MinimumAt, &pair).code()), 0);
    }

    #[test]
    fn elements_are_combined_at_any_address() {
        let of = Datatype::basic(Kind::Float(8));
        let code = Coded::new(Predefined::Sum, &of).code();
        let mut target = [&[0][..], &1.5_f64.to_ne_bytes()].concat();
        combine(code, &2.0_f64.to_ne_bytes(), &mut target[1..]);
        assert_eq!(target[1..], 3.5_f64.to_ne_bytes());
        let pair = Datatype::pair(Kind::Signed(4), Kind::Signed(4));
        let code = Coded::new(Predefined::MinimumAt, &pair).code();
        let [mut target, less] = [[7_i32, 0], [3, 5]]
            .map(|pair| pair.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>());
        combine(code, &less, &mut target);
        assert_eq!(target, less);
    }
}
