//! Straight-line transforms of 2 to 16 points. Each lane is a separate transform.

use std::f64::consts::FRAC_1_SQRT_2;

use super::scalar::Scalar;
use crate::lanes::Lanes;

const COS_EIGHTH_PI: f64 = 0.923_879_532_511_286_8;
const SIN_EIGHTH_PI: f64 = 0.382_683_432_365_089_8;

/// Complex numbers in split form: a vector of real parts, a vector of imaginary parts.
#[derive(Clone, Copy)]
pub(super) struct Pair<V> {
    pub(super) re: V,
    pub(super) im: V,
}

impl<V: Lanes> Pair<V> {
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Pair { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Pair { re: self.re.sub(other.re), im: self.im.sub(other.im) }
    }

    /// Returns `self - i other`.
    #[inline(always)]
    fn add_turned(self, other: Self) -> Self {
        Pair { re: self.re.add(other.im), im: self.im.sub(other.re) }
    }

    /// Returns `self + i other`.
    #[inline(always)]
    fn sub_turned(self, other: Self) -> Self {
        Pair { re: self.re.sub(other.im), im: self.im.add(other.re) }
    }

    /// Returns `self * factor`.
    #[inline(always)]
    pub(super) fn times(self, factor: Self) -> Self {
        Pair {
            re: self.im.neg_mul_add(factor.im, self.re.mul(factor.re)),
            im: self.im.mul_add(factor.re, self.re.mul(factor.im)),
        }
    }

    /// Returns `self + other * factor`, with a real factor.
    #[inline(always)]
    fn add_scaled(self, other: Self, factor: V) -> Self {
        Pair { re: other.re.mul_add(factor, self.re), im: other.im.mul_add(factor, self.im) }
    }

    /// Returns `self - other * factor`, with a real factor.
    #[inline(always)]
    fn sub_scaled(self, other: Self, factor: V) -> Self {
        Pair {
            re: other.re.neg_mul_add(factor, self.re),
            im: other.im.neg_mul_add(factor, self.im),
        }
    }
}

/// Transforms `R` points, 2, 4, 8 or 16, in natural order.
#[inline(always)]
pub(super) fn transform<V: Lanes<Element: Scalar>, const R: usize>(
    x: [Pair<V>; R],
) -> [Pair<V>; R] {
    let mut y = x;
    match R {
        2 => y[..].copy_from_slice(&two([x[0], x[1]])),
        4 => y[..].copy_from_slice(&four([x[0], x[1], x[2], x[3]])),
        8 => y[..].copy_from_slice(&eight(first(&x))),
        16 => y[..].copy_from_slice(&sixteen(first(&x))),
        _ => unreachable!("no straight-line transform of {R} points"),
    }
    y
}

#[inline(always)]
fn first<V: Copy, const N: usize, const R: usize>(x: &[Pair<V>; N]) -> [Pair<V>; R] {
    let mut y = [x[0]; R];
    y.copy_from_slice(&x[..R]);
    y
}

#[inline(always)]
fn two<V: Lanes>([a, b]: [Pair<V>; 2]) -> [Pair<V>; 2] {
    [a.add(b), a.sub(b)]
}

#[inline(always)]
fn four<V: Lanes>([a, b, c, d]: [Pair<V>; 4]) -> [Pair<V>; 4] {
    with_odd([a.add(c), a.sub(c)], b, d)
}

/// Computes the second half of four points from the sum and difference of the even ones, and the two odd ones.
#[inline(always)]
fn with_odd<V: Lanes>([sum, difference]: [Pair<V>; 2], b: Pair<V>, d: Pair<V>) -> [Pair<V>; 4] {
    let (odd_sum, odd_difference) = (b.add(d), b.sub(d));
    [
        sum.add(odd_sum),
        difference.add_turned(odd_difference),
        sum.sub(odd_sum),
        difference.sub_turned(odd_difference),
    ]
}

/// Transforms even and odd points separately; the eighth roots of unity cost one factor, combined with the last
/// additions.
#[inline(always)]
fn eight<V: Lanes<Element: Scalar>>(x: [Pair<V>; 8]) -> [Pair<V>; 8] {
    let half = x[0].re.fill(V::Element::nearest(FRAC_1_SQRT_2));
    let even = four([x[0], x[2], x[4], x[6]]);
    let odd = four([x[1], x[3], x[5], x[7]]);
    // W^1 = (1 - i) / sqrt 2 and W^3 = -(1 + i) / sqrt 2, without their common factor.
    let first = Pair { re: odd[1].re.add(odd[1].im), im: odd[1].im.sub(odd[1].re) };
    let third = Pair { re: odd[3].re.sub(odd[3].im), im: odd[3].im.add(odd[3].re) };
    [
        even[0].add(odd[0]),
        even[1].add_scaled(first, half),
        even[2].add_turned(odd[2]),
        even[3].sub_scaled(third, half),
        even[0].sub(odd[0]),
        even[1].sub_scaled(first, half),
        even[2].sub_turned(odd[2]),
        even[3].add_scaled(third, half),
    ]
}

/// Computes four transforms of four points, the sixteenth roots of unity, and four transforms of four points.
#[inline(always)]
fn sixteen<V: Lanes<Element: Scalar>>(x: [Pair<V>; 16]) -> [Pair<V>; 16] {
    let half = x[0].re.fill(V::Element::nearest(FRAC_1_SQRT_2));
    let cos = x[0].re.fill(V::Element::nearest(COS_EIGHTH_PI));
    let sin = x[0].re.fill(V::Element::nearest(SIN_EIGHTH_PI));
    let minus_cos = x[0].re.fill(V::Element::nearest(-COS_EIGHTH_PI));
    let minus_sin = x[0].re.fill(V::Element::nearest(-SIN_EIGHTH_PI));
    let root = Pair { re: cos, im: minus_sin };
    let root_cubed = Pair { re: sin, im: minus_cos };
    let root_ninth = Pair { re: minus_cos, im: sin };
    let a = four([x[0], x[4], x[8], x[12]]);
    let b = four([x[1], x[5], x[9], x[13]]);
    let c = four([x[2], x[6], x[10], x[14]]);
    let d = four([x[3], x[7], x[11], x[15]]);
    let p = four([a[0], b[0], c[0], d[0]]);
    let q = four([a[1], b[1].times(root), eighth(c[1], half), d[1].times(root_cubed)]);
    let r = four_with_turn([a[2], eighth(b[2], half), c[2], three_eighths(d[2], half)]);
    let s = four([a[3], b[3].times(root_cubed), three_eighths(c[3], half), d[3].times(root_ninth)]);
    [
        p[0], q[0], r[0], s[0], p[1], q[1], r[1], s[1], //
        p[2], q[2], r[2], s[2], p[3], q[3], r[3], s[3],
    ]
}

/// Transforms four points of which the third must still be multiplied by -i.
#[inline(always)]
fn four_with_turn<V: Lanes>([a, b, c, d]: [Pair<V>; 4]) -> [Pair<V>; 4] {
    with_odd([a.add_turned(c), a.sub_turned(c)], b, d)
}

/// Returns `x` times the eighth root of unity (1 - i) / sqrt 2.
#[inline(always)]
fn eighth<V: Lanes>(x: Pair<V>, half: V) -> Pair<V> {
    Pair { re: x.re.add(x.im).mul(half), im: x.im.sub(x.re).mul(half) }
}

/// Returns `x` times the third power of that root, -(1 + i) / sqrt 2.
#[inline(always)]
fn three_eighths<V: Lanes<Element: Scalar>>(x: Pair<V>, half: V) -> Pair<V> {
    let minus_half = half.fill(V::Element::nearest(-FRAC_1_SQRT_2));
    Pair { re: x.im.sub(x.re).mul(half), im: x.re.add(x.im).mul(minus_half) }
}
