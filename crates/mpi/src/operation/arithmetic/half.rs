//! Arithmetic on IEEE numbers of two bytes, for which Rust has no type. The bits of each become an `f32`, and its result
//! is rounded back. The sum and the product of two such numbers are exact enough in an `f32` for one rounding: it has
//! more than twice the digits and two.

use super::each::{Places, each};
use crate::operation::predefined::Predefined::{self, Maximum, Minimum, Product, Sum};

/// 2^112: from the exponent's bias of two bytes, moved to the place of four, to the bias of four.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
const SIGN: u16 = 1 << 15;
const INFINITY: u16 = 0x7c00;
const QUIET: u16 = 0x0200;

/// Returns the number with these bits.
fn widened(bits: u16) -> f32 {
    let size = u32::from(bits & !SIGN);
    let sign = u32::from(bits & SIGN) << 16;
    let value = match size >= u32::from(INFINITY) {
        // Infinity, and no numbers.
        true => f32::from_bits(0xff << 23 | (size & 0x3ff) << 13),
        // The product is exact, also of the smallest numbers, whose exponent is 0.
        false => f32::from_bits(size << 13) * REBIAS,
    };
    f32::from_bits(value.to_bits() | sign)
}

/// Returns the bits of the nearest number; of two that are as near, of the even one.
fn narrowed(value: f32) -> u16 {
    let sign = (value.to_bits() >> 16) as u16 & SIGN;
    let size = value.abs();
    if value.is_nan() {
        return sign | INFINITY | QUIET;
    }
    // The distance of two neighbours of two bytes at this exponent, which is at least 2^-24.
    let exponent = ((size.to_bits() >> 23) as i32 - 127).max(-14);
    if exponent > 15 {
        return sign | INFINITY;
    }
    let step = f32::from_bits(((exponent - 10 + 127) as u32) << 23);
    // Fewer than 2^12 steps: the division is exact, and so is what is left after rounding. A carry moves into the exponent.
    let steps = (size / step).round_ties_even() as u16;
    let base = ((exponent + 14) as u16) << 10;
    sign | (base + steps).min(INFINITY)
}

/// Computes result = left op right, number by number.
///
/// # Safety
/// The places hold as many numbers of two bytes.
pub(super) unsafe fn apply(op: Predefined, at: Places) {
    let with = |op: fn(f32, f32) -> f32| {
        each::<u16>(at, move |a, b| narrowed(op(widened(a), widened(b))));
    };
    match op {
        Sum => with(|a, b| a + b),
        Product => with(|a, b| a * b),
        Minimum => with(f32::min),
        Maximum => with(f32::max),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_two_bytes_is_kept() {
        for bits in 0..=u16::MAX {
            let value = widened(bits);
            match value.is_nan() {
                true => assert!(bits & !SIGN > INFINITY && narrowed(value) & !SIGN > INFINITY),
                false => assert_eq!(narrowed(value), bits, "{value}"),
            }
        }
    }

    #[test]
    fn known_numbers_have_the_bits_of_the_standard() {
        // 1 is 2^0: exponent 15. 65504 is (2 - 2^-10) 2^15. 2^-24 is the smallest.
        let expected = [(1.0, 0x3c00), (-2.0, 0xc000), (65504.0, 0x7bff), (2_f32.powi(-24), 1)];
        for (value, bits) in expected {
            assert_eq!((narrowed(value), widened(bits)), (bits, value));
        }
        assert_eq!((narrowed(-0.0), narrowed(f32::INFINITY)), (SIGN, INFINITY));
    }

    #[test]
    fn what_lies_between_goes_to_the_nearest_and_then_to_the_even_one() {
        // Above 2048 neighbours are 2 apart: 2049 is as near to 2048 as to 2050.
        for (value, nearest) in [(2049.0, 2048.0), (2051.0, 2052.0), (2049.1, 2050.0)] {
            assert_eq!(widened(narrowed(value)), nearest);
        }
        // Halfway to the next power of two, 65520 is no longer a number; below it is the largest.
        assert_eq!((narrowed(65520.0), narrowed(65519.0)), (INFINITY, 0x7bff));
        // Half of the smallest goes to zero, which is even, and what is larger to the smallest.
        assert_eq!((narrowed(2_f32.powi(-25)), narrowed(1.5 * 2_f32.powi(-25))), (0, 1));
    }

    #[test]
    fn numbers_are_combined_by_each_operation() {
        let (left, right) = ([1.5, -2.0, 60000.0].map(narrowed), [2.5, 0.5, 60000.0].map(narrowed));
        for (op, expected) in [
            (Sum, [4.0, -1.5, f32::INFINITY]),
            (Product, [3.75, -1.0, f32::INFINITY]),
            (Minimum, [1.5, -2.0, 59_999.0]),
            (Maximum, [2.5, 0.5, 60_001.0]),
        ] {
            let mut result = [0_u16; 3];
            let at = Places {
                left: left.as_ptr().cast(),
                right: right.as_ptr().cast(),
                result: result.as_mut_ptr().cast(),
                count: 3,
            };
            // SAFETY: each holds three numbers of two bytes.
            unsafe { apply(op, at) };
            // Neighbours of 60000 are 32 apart.
            assert_eq!(result, expected.map(narrowed), "{op:?}");
        }
    }
}
