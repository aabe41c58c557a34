//! Reductions against arithmetic on single numbers.

use std::rc::Rc;

use mpi::{Datatype, Element, ErrorClass, Kind, Memory, Operation, Predefined, Reduction, Unit};

use super::random::Random;

fn on(operation: impl Into<Operation>, of: &Rc<Datatype>) -> mpi::Result<Reduction> {
    Reduction::new(Rc::new(operation.into()), of.clone())
}

/// Replaces `right` by left op right.
fn apply(reduction: &Reduction, left: &[u8], right: &mut [u8], count: i64) {
    let of = reduction.of();
    // SAFETY: the tests pass the true number of elements, which nothing else uses.
    let [input, inout] = unsafe {
        [
            Memory::new(left.as_ptr(), count, of.clone()),
            Memory::new(right.as_mut_ptr(), count, of.clone()),
        ]
    };
    reduction.apply(&input.unwrap(), &inout.unwrap());
}

/// Returns the result of an operation on two integers; `None` for operations that are not defined for integers.
fn of_integers(op: Predefined, left: i128, right: i128) -> Option<i128> {
    let truth = |both: bool| Some(i128::from(both));
    match op {
        Predefined::Sum => Some(left.wrapping_add(right)),
        Predefined::Product => Some(left.wrapping_mul(right)),
        Predefined::Minimum => Some(if left < right { left } else { right }),
        Predefined::Maximum => Some(if left > right { left } else { right }),
        Predefined::BitAnd => Some(left & right),
        Predefined::BitOr => Some(left | right),
        Predefined::BitXor => Some(left ^ right),
        Predefined::And => truth(left != 0 && right != 0),
        Predefined::Or => truth(left != 0 || right != 0),
        Predefined::Xor => truth((left != 0) != (right != 0)),
        Predefined::Replace => Some(left),
        Predefined::Nothing => Some(right),
        Predefined::MinimumAt | Predefined::MaximumAt => None,
    }
}

/// Returns the integer in `bytes`, signed or unsigned.
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let negative = signed && bytes[bytes.len() - 1] >= 128;
    let mut wide = [if negative { 255 } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

#[test]
fn integers_of_every_width_are_combined_as_wide_ones_are() {
    let mut random = Random::new(7);
    for kind in [
        Kind::Signed(1),
        Kind::Signed(2),
        Kind::Signed(4),
        Kind::Signed(8),
        Kind::Signed(16),
        Kind::Unsigned(1),
        Kind::Unsigned(2),
        Kind::Unsigned(4),
        Kind::Unsigned(8),
        Kind::Long,
        Kind::UnsignedLong,
        Kind::Char,
    ] {
        let width = kind.bytes() as usize;
        let signed = !matches!(kind, Kind::Unsigned(_) | Kind::UnsignedLong);
        let of = Datatype::basic(kind);
        for op in Predefined::ALL {
            let Ok(reduction) = on(op, &of) else {
                assert_eq!(of_integers(op, 0, 0), None, "{op:?} of {kind:?}");
                continue;
            };
            // A few elements, and enough for vector instructions.
            for count in [1, 3, if cfg!(miri) { 20 } else { 700 }] {
                // Small numbers are often equal or zero.
                let mut numbers = || {
                    let mut bytes = random.bytes(width * count);
                    bytes.iter_mut().for_each(|byte| *byte &= 3);
                    if count == 3 { random.bytes(width * count) } else { bytes }
                };
                let (left, right) = (numbers(), numbers());
                let pairs = left.chunks(width).zip(right.chunks(width));
                let expected: Vec<u8> = pairs
                    .flat_map(|(left, right)| {
                        let result =
                            of_integers(op, integer(left, signed), integer(right, signed)).unwrap();
                        result.to_le_bytes()[..width].to_vec()
                    })
                    .collect();
                let mut result = right.clone();
                apply(&reduction, &left, &mut result, count as i64);
                assert_eq!(result, expected, "{op:?} of {count} {kind:?}");
            }
        }
    }
}

fn bytes_of<T: Element>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; size_of_val(numbers)];
    for (number, place) in numbers.iter().zip(bytes.chunks_mut(size_of::<T>())) {
        number.to_bytes(place);
    }
    bytes
}

/// Returns left op right of elements with these bytes.
fn combined<T: Element>(op: Predefined, kind: Kind, left: &[T], right: &[T]) -> Vec<T> {
    let of = Datatype::basic(kind);
    let reduction = on(op, &of).unwrap();
    let mut result = bytes_of(right);
    let count = result.len() as i64 / of.size();
    apply(&reduction, &bytes_of(left), &mut result, count);
    result.chunks(size_of::<T>()).map(T::from_bytes).collect()
}

#[test]
fn floating_point_numbers_and_complex_ones_follow_their_rules() {
    use Predefined::{Maximum, Minimum, Product, Sum};
    let float = Kind::Float(8);
    assert_eq!(combined(Sum, float, &[1.5, -2.0], &[0.25, 2.0]), [1.75, 0.0]);
    assert_eq!(combined(Product, Kind::Float(4), &[1.5_f32], &[-2.0]), [-3.0]);
    // Of a number and a NaN, the number.
    assert_eq!(combined(Minimum, float, &[f64::NAN, -1.0], &[3.0, 2.0]), [3.0, -1.0]);
    assert_eq!(combined(Maximum, float, &[4.0, -1.0], &[f64::NAN, 2.0]), [4.0, 2.0]);
    // (1 + 2i)(3 + 4i) = 3 - 8 + (4 + 6)i
    assert_eq!(combined(Product, Kind::Complex(8), &[1.0, 2.0], &[3.0, 4.0]), [-5.0, 10.0]);
    assert_eq!(combined(Sum, Kind::Complex(4), &[1.0_f32, 2.0], &[3.0, 4.0]), [4.0, 6.0]);
}

#[cfg(all(target_arch = "x86_64", not(miri)))] // Miri knows no instructions of the x87.
#[test]
fn long_doubles_are_combined_in_their_own_format() {
    /// Returns a power of two in the format of the x87: the exponent is biased by 16383, the leading bit is explicit.
    fn power(exponent: i32, negative: bool) -> Vec<u8> {
        let high = (16383 + exponent) as u16 | u16::from(negative) << 15;
        [&(1_u64 << 63).to_le_bytes()[..], &high.to_le_bytes(), &[0; 6]].concat()
    }
    let of = Datatype::basic(Kind::LongDouble);
    for (op, left, right, expected) in [
        (Predefined::Product, power(5, true), power(-7, false), power(-2, true)),
        (Predefined::Sum, power(4, false), power(4, false), power(5, false)),
        (Predefined::Minimum, power(4, false), power(3, false), power(3, false)),
        (Predefined::Minimum, power(4, true), power(3, false), power(4, true)),
        (Predefined::Maximum, power(-3, true), power(-2, true), power(-3, true)),
    ] {
        let mut result = right;
        apply(&on(op, &of).unwrap(), &left, &mut result, 1);
        assert_eq!(result[..10], expected[..10], "{op:?}");
    }
}

#[test]
fn the_place_of_a_minimum_or_maximum_is_the_lower_of_equals() {
    let of = Datatype::pair(Kind::Float(8), Kind::Signed(4));
    assert_eq!((of.size(), of.extent()), (12, 16));
    let pair = |value: f64, place: i32| [bytes_of(&[value]), bytes_of(&[place, 0])].concat();
    let less = on(Predefined::MinimumAt, &of).unwrap();
    let more = on(Predefined::MaximumAt, &of).unwrap();
    for (reduction, left, right, expected) in [
        (&less, pair(1.0, 9), pair(2.0, 3), pair(1.0, 9)),
        (&less, pair(2.0, 9), pair(2.0, 3), pair(2.0, 3)),
        (&less, pair(2.0, 1), pair(2.0, 3), pair(2.0, 1)),
        (&more, pair(1.0, 9), pair(2.0, 3), pair(2.0, 3)),
        (&more, pair(2.0, 1), pair(2.0, 3), pair(2.0, 1)),
    ] {
        let mut result = right;
        apply(reduction, &left, &mut result, 1);
        assert_eq!(result[..12], expected[..12]);
    }
    let number = Datatype::basic(Kind::Float(8));
    let refused = on(Predefined::MinimumAt, &number).unwrap_err();
    assert_eq!(refused.class, ErrorClass::Operation);
}

#[test]
fn gaps_between_elements_stay_as_they_are() {
    let short = Datatype::basic(Kind::Signed(2));
    let of = Datatype::vector(2, 1, 2, Unit::Elements, &short).unwrap();
    let refused = on(Predefined::Sum, &of).unwrap_err();
    assert_eq!(refused.class, ErrorClass::Type, "not committed");
    of.commit();
    let reduction = on(Predefined::Sum, &of).unwrap();
    // An element consists of numbers 0 and 2; the next begins at number 3.
    let (left, right) = ([1, 1, 1, 1, 1, 1_i16], [10, 20, 30, 40, 50, 60_i16]);
    let mut result = bytes_of(&right);
    apply(&reduction, &bytes_of(&left), &mut result, 2);
    assert_eq!(result, bytes_of(&[11, 20, 31, 41, 50, 61_i16]));
}

#[test]
fn operations_are_defined_for_the_kinds_that_mpi_specifies() {
    use Predefined::{And, BitOr, Maximum, Product, Replace, Sum};
    for (kind, defined) in [
        (Kind::Signed(4), &[Sum, Product, Maximum, BitOr, And, Replace][..]),
        (Kind::Float(4), &[Sum, Product, Maximum, Replace]),
        (Kind::Complex(8), &[Sum, Product, Replace]),
        (Kind::Logical(4), &[And, Replace]),
        (Kind::Byte, &[BitOr, Replace]),
        (Kind::Packed, &[Replace]),
        (Kind::Character(1), &[Replace]),
        (Kind::WideCharacter, &[Replace]),
        (Kind::Float(16), &[Replace]),
    ] {
        let of = Datatype::basic(kind);
        for op in [Sum, Product, Maximum, BitOr, And, Replace] {
            assert_eq!(on(op, &of).is_ok(), defined.contains(&op), "{op:?} of {kind:?}");
        }
    }
    assert!(!Predefined::Replace.commutes() && Predefined::Sum.commutes());
}

#[test]
fn a_program_brings_operations_of_its_own() {
    // Not commutative: 10 left + right.
    let shift = Operation::of_elements(false, |left: i32, right: i32| 10 * left + right);
    assert!(!shift.commutes() && shift.predefined().is_none());
    let of = Datatype::basic(Kind::Signed(4));
    let reduction = on(shift, &of).unwrap();
    let (left, mut result) = (bytes_of(&[1, 2]), bytes_of(&[3, 4]));
    apply(&reduction, &left, &mut result, 2);
    assert_eq!(result, bytes_of(&[13, 24]));
    // On elements with gaps it gets the data without the gaps.
    let gapped = Datatype::resized(0, 6, &of).unwrap();
    gapped.commit();
    let count = Operation::of_bytes(true, |input, inout, _| inout[0] += input.len() as u8);
    let mut result = vec![5; 12];
    apply(&on(count, &gapped).unwrap(), &[0; 12], &mut result, 2);
    assert_eq!(result, [13, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
}
